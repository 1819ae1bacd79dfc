import type { Log } from '../../../platform/log/log.ts'
import type { Delivered, Follower } from '../../../ports/bus.ts'
import { feedOfLane, type Lane, type LaneTop, registryLane } from './lanes.ts'

/**
 * Maximum events kept for a follower until its start is known; above that, the follower begins later and its loss is
 * reported.
 */
const keptMax = 10_000

type LaneEvent =
  | { readonly lane: Lane; readonly position: number; readonly delivered: Delivered }
  | { readonly lane: Lane; readonly position: number; readonly delivered?: undefined }

/** One follower of the bus: receives the events after its start positions. */
export class Following {
  readonly #follower: Follower
  readonly #log: Log
  #starts: ReadonlyMap<Lane, number> | undefined
  #kept: LaneEvent[] = []
  /** Its start was not known in time: all events before `begin` are lost for it. */
  isLate = false

  constructor(follower: Follower, log: Log) {
    this.#follower = follower
    this.#log = log
  }

  /** Whether it gets only the events of the registry. */
  get wantsRegistryOnly(): boolean {
    return this.#follower.wants === 'registry'
  }

  wants(lane: Lane): boolean {
    return lane === registryLane || !this.wantsRegistryOnly
  }

  get hasBegun(): boolean {
    return this.#starts !== undefined
  }

  begin(tops: readonly LaneTop[]): void {
    this.#starts = new Map(tops.map(({ lane, top }) => [lane, top]))
    if (this.isLate && !this.wantsRegistryOnly) for (const { lane, top } of tops) this.#reportLost(lane, top)
    const kept = this.#kept
    this.#kept = []
    for (const each of kept) this.#pass(each)
  }

  deliver(lane: Lane, delivered: Delivered): void {
    this.#take({ lane, position: delivered.position, delivered })
  }

  lost(lane: Lane, upTo: number): void {
    this.#take({ lane, position: upTo })
  }

  #take(event: LaneEvent): void {
    if (!this.wants(event.lane)) return
    if (this.#starts) return this.#pass(event)
    if (this.#kept.length < keptMax) return void this.#kept.push(event)
    this.#kept = []
    this.isLate = true
  }

  #pass({ lane, position, delivered }: LaneEvent): void {
    if (position <= (this.#starts?.get(lane) ?? 0)) return
    if (delivered) this.#guarded(() => void this.#follower.deliver(delivered), delivered.event.type)
    else this.#reportLost(lane, position)
  }

  #reportLost(lane: Lane, upTo: number): void {
    const feed = feedOfLane(lane)
    // The registry is read by version, whatever the bus reports.
    if (feed !== undefined) this.#guarded(() => this.#follower.lost(feed, upTo), 'lost')
  }

  /** A defect of one follower must not stop delivery to the others. */
  #guarded(report: () => void, event: string): void {
    try {
      report()
    } catch (cause) {
      this.#log.error({ err: cause, event }, 'bus follower failed; delivery continues')
    }
  }
}
