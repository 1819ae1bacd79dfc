import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Metrics } from '../../../platform/metrics.ts'

export interface TerminalMetrics {
  memory(usedMb: number, totalMb: number): void
  /** A function of the terminal failed with this number. Returns the label that counts it. */
  failed(number: number): string
  /** The terminal is still loading history that was asked for. */
  loading(): void
}

export type TerminalMetricsOf = (feed: FeedKey) => TerminalMetrics

/** Error numbers of one process with a series of their own; a terminal may name any number. */
const numbersMax = 50
const mib = 1024 * 1024

/** Metrics of all terminals of one process. */
export function createTerminalMetrics(metrics: Metrics): TerminalMetricsOf {
  const used = metrics.gauge('fxd_terminal_memory_bytes', 'Memory that the terminal uses', ['feed'])
  const total = metrics.gauge('fxd_terminal_machine_memory_bytes', 'Memory of the machine of the terminal', [
    'feed',
  ])
  const errors = metrics.counter(
    'fxd_terminal_errors_total',
    'Functions of the terminal that failed, by the number of the error; "other": one of many numbers',
    ['feed', 'number'],
  )
  const loads = metrics.counter(
    'fxd_terminal_loading_total',
    'Answers of the terminal that history is still loading; it is asked again',
    ['feed'],
  )
  const numbers = new Set<number>()
  return (feed) => ({
    memory(usedMb, totalMb) {
      used.set({ feed }, usedMb * mib)
      total.set({ feed }, totalMb * mib)
    },
    failed(number) {
      if (numbers.size < numbersMax) numbers.add(number)
      const label = numbers.has(number) ? String(number) : 'other'
      errors.inc({ feed, number: label })
      return label
    },
    loading: () => loads.inc({ feed }),
  })
}
