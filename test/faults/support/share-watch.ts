import { metricOf } from '../../support/clients/metric-of.ts'
import type { Pod } from '../../support/cluster/cluster.ts'
import type { ShareReading } from '../checks/check-limits.ts'
import { RepeatedCalls } from './cluster-user.ts'
import { within } from './within.ts'

const counter = 'fxd_limits_by_share_total'
/** Period of readings; what a process counts after its last reading is lost when it is killed. */
const periodMs = 1_000
const patienceMs = 60_000

/**
 * Reads repeatedly how many requests pods admitted by their shares. A single reading at the end would not show
 * the minute, and would miss what killed processes had counted.
 */
export class ShareWatch {
  readonly readings: readonly ShareReading[][]
  readonly #pods: readonly Pod[]
  readonly #repeated: RepeatedCalls

  private constructor(pods: readonly Pod[]) {
    this.#pods = pods
    this.readings = pods.map(() => [])
    this.#repeated = new RepeatedCalls(1, periodMs, () => this.#readAll())
  }

  /** Starts reading; resolves once each pod was read once. */
  static async begin(pods: readonly Pod[]): Promise<ShareWatch> {
    const watch = new ShareWatch(pods)
    await within(patienceMs, `a reading of ${counter} of each pod`, () =>
      watch.readings.every(({ length }) => length > 0),
    ).catch(async (cause: unknown) => {
      await watch.stop()
      throw cause
    })
    return watch
  }

  /** Reads once more and stops. */
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
    // A process that has ended or is starting has no reading.
    const admitted = await metricOf(opsPort, counter, { outcome: 'admitted' }).catch(() => Number.NaN)
    if (program.pid === pid && !Number.isNaN(admitted))
      readings.push({ fromMs, untilMs: Date.now(), pid, admitted })
  }
}
