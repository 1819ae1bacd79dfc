import { metricOf } from '../../support/clients/metric-of.ts'
import type { Pod } from '../../support/cluster/cluster.ts'
import type { ShareReading } from './check-limits.ts'
import { Repeated } from './cluster-user.ts'
import { within } from './within.ts'

const counter = 'fxd_limits_by_share_total'
/** What a process counted after the last reading ends with it. */
const periodMs = 1_000
const patienceMs = 60_000

/**
 * Reads all the time what pods admitted by their shares: read only in the end, the counters would neither
 * tell in which minute that was nor what a process had counted that was killed before.
 */
export class ShareWatch {
  readonly readings: readonly ShareReading[][]
  readonly #pods: readonly Pod[]
  readonly #repeated: Repeated

  private constructor(pods: readonly Pod[]) {
    this.#pods = pods
    this.readings = pods.map(() => [])
    this.#repeated = new Repeated(1, periodMs, () => this.#readAll())
  }

  /** Resolves once each of them was read. */
  static async begin(pods: readonly Pod[]): Promise<ShareWatch> {
    const watch = new ShareWatch(pods)
    await within(patienceMs, `each pod to tell its ${counter}`, () =>
      watch.readings.every(({ length }) => length > 0),
    ).catch(async (cause: unknown) => {
      await watch.stop()
      throw cause
    })
    return watch
  }

  /** Reads for the last time. */
  async stop(): Promise<void> {
    await this.#repeated.stop()
    await this.#readAll()
  }

  async #readAll(): Promise<void> {
    await Promise.all(this.#pods.map((pod, i) => this.#read(pod, this.readings[i] ?? [])))
  }

  async #read({ opsPort, program }: Pod, readings: ShareReading[]): Promise<void> {
    const { pid } = program
    const fromMs = Date.now()
    // Who is dead or just beginning tells nothing.
    const admitted = await metricOf(opsPort, counter, { outcome: 'admitted' }).catch(() => Number.NaN)
    if (program.pid === pid && !Number.isNaN(admitted))
      readings.push({ fromMs, untilMs: Date.now(), pid, admitted })
  }
}
