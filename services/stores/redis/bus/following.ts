import type { Log } from '../../../platform/log/log.ts'
import type { Delivered, Follower } from '../../../ports/bus.ts'
import { type BusStream, feedOfStream, registryStream, type StreamTop } from './streams.ts'

/** Maximum events kept for a follower until its start is known; above that, it begins later and its loss is reported. */
const keptMax = 10_000

type StreamEvent =
  | { readonly stream: BusStream; readonly position: number; readonly delivered: Delivered }
  | { readonly stream: BusStream; readonly position: number; readonly delivered?: undefined }

/** One follower of the bus: receives the events after its start positions. */
export class Following {
  readonly #follower: Follower
  readonly #log: Log
  #starts: ReadonlyMap<BusStream, number> | undefined
  #kept: StreamEvent[] = []
  /** Its start was not known in time: all events before `begin` are lost for it. */
  isLate = false

  constructor(follower: Follower, log: Log) {
    this.#follower = follower
    this.#log = log
  }

  get wantsRegistryOnly(): boolean {
    return this.#follower.wants === 'registry'
  }

  wants(stream: BusStream): boolean {
    return stream === registryStream || !this.wantsRegistryOnly
  }

  get hasBegun(): boolean {
    return this.#starts !== undefined
  }

  begin(tops: readonly StreamTop[]): void {
    this.#starts = new Map(tops.map(({ stream, top }) => [stream, top]))
    if (this.isLate && !this.wantsRegistryOnly)
      for (const { stream, top } of tops) this.#reportLost(stream, top)
    const kept = this.#kept
    this.#kept = []
    for (const each of kept) this.#pass(each)
  }

  deliver(stream: BusStream, delivered: Delivered): void {
    this.#take({ stream, position: delivered.position, delivered })
  }

  lost(stream: BusStream, upTo: number): void {
    this.#take({ stream, position: upTo })
  }

  #take(event: StreamEvent): void {
    if (!this.wants(event.stream)) return
    if (this.#starts) return this.#pass(event)
    if (this.#kept.length < keptMax) return void this.#kept.push(event)
    this.#kept = []
    this.isLate = true
  }

  #pass({ stream, position, delivered }: StreamEvent): void {
    if (position <= (this.#starts?.get(stream) ?? 0)) return
    if (delivered) this.#guarded(() => void this.#follower.deliver(delivered), delivered.event.type)
    else this.#reportLost(stream, position)
  }

  #reportLost(stream: BusStream, upTo: number): void {
    const feed = feedOfStream(stream)
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
