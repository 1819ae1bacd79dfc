import { type Stage, stages } from '../../../services/platform/stages.ts'
import { ms, quantile } from '../support/figures.ts'
import type { Burst } from './burst.ts'
import type { Mark } from './stage-files.ts'

/** The stages of the table, in words. */
const words: Readonly<Record<Stage, string>> = {
  received: 'received',
  checked: 'checked',
  publishing: 'handed to the bus',
  published: 'the bus replied',
  delivered: 'read and decoded',
  writing: 'first write to a socket',
  written: 'last write to a socket',
  storing: 'rows sent to the store',
  committed: 'rows committed',
}
const ofStore: ReadonlySet<Stage> = new Set(['storing', 'committed'])

/**
 * The marks of a burst. The store also has other rows, such as usage: its marks end with the last ack, which follows
 * every commit of a bar.
 */
const marksOf = ({ begun, ended, acks }: Burst, marks: readonly Mark[]): Mark[] =>
  marks.filter(
    ({ stage, at }) => at >= begun && at < (ofStore.has(stage) ? begun + Math.max(...acks) : ended),
  )

const median = (values: readonly number[]): string => (values.length === 0 ? '–' : ms(quantile(values, 0.5)))

/** Milliseconds from the begin of a burst to the first and last time of each stage, by process: medians of the bursts. */
export function stageRows(bursts: readonly Burst[], marks: readonly Mark[]): string[][] {
  const perBurst = bursts.map((burst) => ({ burst, own: marksOf(burst, marks) }))
  const processes = [...new Set(perBurst.flatMap(({ own }) => own.map((mark) => mark.process)))].toSorted()
  const rows = stages.flatMap((stage) =>
    processes.flatMap((process) => {
      const times = perBurst.flatMap(({ burst, own }) => {
        const at = own.filter((mark) => mark.stage === stage && mark.process === process)
        return at.length === 0 ? [] : [at.map((mark) => mark.at - burst.begun)]
      })
      if (times.length === 0) return []
      const first = median(times.map((each) => Math.min(...each)))
      const last = median(times.map((each) => Math.max(...each)))
      const count = String(
        quantile(
          times.map(({ length }) => length),
          0.5,
        ),
      )
      return [[`${words[stage]}, ${process}`, first, last, count]]
    }),
  )
  return [
    ...rows,
    [
      'frame read by its client (p50, last)',
      median(bursts.map(({ frames }) => frames.p50)),
      median(bursts.map(({ frames }) => frames.max)),
      '',
    ],
    [
      'acked',
      median(bursts.map(({ acks }) => Math.min(...acks))),
      median(bursts.map(({ acks }) => Math.max(...acks))),
      '',
    ],
  ]
}

/** Milliseconds from the last commit of a burst to the time at which 99 of 100 frames were read: median of the bursts. */
export function afterCommit(bursts: readonly Burst[], marks: readonly Mark[]): number {
  const times = bursts.map((burst) => {
    const commits = marksOf(burst, marks).filter(({ stage }) => stage === 'committed')
    return burst.begun + burst.frames.p99 - Math.max(...commits.map(({ at }) => at))
  })
  return quantile(times, 0.5)
}
