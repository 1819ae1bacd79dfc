import type { Log } from '../../../platform/log/log.ts'
import type { Delivered, Follower } from '../../../ports/bus.ts'
import { feedOfLane, type Lane, type LaneTop } from './lanes.ts'

/**
 * Maximum events kept for a follower until its start is known; above that, the follower begins later and its loss is
 * reported.
 */
const heldMax = 10_000

type Happening =
  | { readonly lane: Lane; readonly position: number; readonly delivered: Delivered }
  | { readonly lane: Lane; readonly position: number; readonly delivered?: undefined }

/** One follower of the bus: receives the events after its start positions. */
export class Following {
  readonly #follower: Follower
  readonly #log: Log
  #starts: ReadonlyMap<Lane, number> | undefined
  #held: Happening[] = []
  /** Its start was not known in time: all events before `begin` are lost for it. */
  isLate = false

  constructor(follower: Follower, log: Log) {
    this.#follower = follower
    this.#log = log
  }

  get hasBegun(): boolean {
    return this.#starts !== undefined
  }

  begin(tops: readonly LaneTop[]): void {
    this.#starts = new Map(tops.map(({ lane, top }) => [lane, top]))
    if (this.isLate) for (const { lane, top } of tops) this.#tellLost(lane, top)
    const held = this.#held
    this.#held = []
    for (const each of held) this.#pass(each)
  }

  deliver(lane: Lane, delivered: Delivered): void {
    this.#take({ lane, position: delivered.position, delivered })
  }

  lost(lane: Lane, upTo: number): void {
    this.#take({ lane, position: upTo })
  }

  #take(happening: Happening): void {
    if (this.#starts) return this.#pass(happening)
    if (this.#held.length < heldMax) return void this.#held.push(happening)
    this.#held = []
    this.isLate = true
  }

  #pass({ lane, position, delivered }: Happening): void {
    if (position <= (this.#starts?.get(lane) ?? 0)) return
    if (delivered) this.#guarded(() => this.#follower.deliver(delivered), delivered.event.type)
    else this.#tellLost(lane, position)
  }

  #tellLost(lane: Lane, upTo: number): void {
    const feed = feedOfLane(lane)
    // The registry is read by version, whatever the bus reports.
    if (feed !== undefined) this.#guarded(() => this.#follower.lost(feed, upTo), 'lost')
  }

  /** A defect of one follower must not stop delivery to the others. */
  #guarded(tell: () => void, event: string): void {
    try {
      tell()
    } catch (cause) {
      this.#log.error({ err: cause, event }, 'bus follower failed')
    }
  }
}
