import type { Calls } from './link/calls.ts'
import { infoField } from './link/server-facts.ts'
import type { RedisStoreOptions } from './options.ts'

const periodMs = 15_000

type MemoryDeps = Pick<RedisStoreOptions, 'clock' | 'metrics' | 'log'> & { readonly calls: Calls }

/** Exports the memory of Redis. While Redis is unavailable both are absent, the maximum also where there is none. */
export class MemoryGauges {
  readonly #deps: MemoryDeps
  readonly close: () => void
  #used: number | undefined
  #max: number | undefined

  constructor(deps: MemoryDeps) {
    this.#deps = deps
    const gauge = (name: string, help: string, value: () => number | undefined) =>
      deps.metrics.gauge(name, help, [], (metric) => {
        const now = value()
        if (now === undefined) metric.remove()
        else metric.set(now)
      })
    gauge('fxd_redis_memory_used_bytes', 'Memory that Redis uses.', () => this.#used)
    gauge(
      'fxd_redis_memory_max_bytes',
      'Memory above which Redis refuses writes (maxmemory); absent without a limit.',
      () => this.#max,
    )
    this.close = deps.clock.every(periodMs, () => void this.read())
  }

  /** Never rejects. */
  async read(): Promise<void> {
    const info = await this.#deps.calls.command('info', 'memory').catch((cause: unknown) => {
      this.#deps.log.debug({ err: cause }, 'failed to read the memory of Redis; retrying in 15 s')
      return ''
    })
    const bytes = (name: string): number | undefined => Number(infoField(String(info), name)) || undefined
    this.#used = bytes('used_memory')
    this.#max = bytes('maxmemory')
  }
}
