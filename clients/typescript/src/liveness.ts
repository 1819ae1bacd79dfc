import type { FeedStatus, Status, Verdict } from './types.ts'

/** Whenever it begins, a whole minute of the clock is in this time. */
const wholeMinuteMs = 120_000

interface Seen {
  status?: Pick<FeedStatus, 'status' | 'liveness_source'>
  /** Whether a bar came since the last complete minute, and in that minute. */
  isNow: boolean
  wasBefore: boolean
}

/** Judges feeds by what the service says of them and by complete minutes, never by a timeout on bars. */
export class Liveness {
  readonly #feeds = new Map<string, Seen>()
  /** What the service said when the iterator began. */
  #began: Status['feeds'] = {}
  #openedMs: number | undefined

  began({ feeds }: Status): void {
    this.#began = feeds
  }

  /** A socket is open. What it does not bring is brought by the next one, so the time counts from the first one. */
  opened(): void {
    this.#openedMs ??= performance.now()
  }

  status(feed: string, status: Seen['status'] & object): void {
    this.#of(feed).status = status
  }

  bar(feed: string): void {
    this.#of(feed).isNow = true
  }

  minute(feed: string): void {
    const seen = this.#of(feed)
    seen.wasBefore = seen.isNow
    seen.isNow = false
  }

  /** `isReading`: the buffer has room. `isSound`: the socket is open and answers pings. */
  verdicts(isReading: boolean, isSound: boolean): Record<string, Verdict> {
    const judge = (feed: string, { status, isNow, wasBefore }: Seen): Verdict => {
      if (!isReading || status?.liveness_source !== 'heartbeat') return 'unknown'
      if (!isSound || status.status !== 'live') return 'dead'
      if (isNow || wasBefore) return 'live'
      const idleMs = (this.#began[feed]?.last_candle_age_seconds ?? 0) * 1_000
      const openMs = performance.now() - (this.#openedMs ?? 0)
      return Math.max(openMs, idleMs) < wholeMinuteMs ? 'unknown' : 'quiet'
    }
    return Object.fromEntries([...this.#feeds].map(([feed, seen]) => [feed, judge(feed, seen)]))
  }

  #of(feed: string): Seen {
    const seen = this.#feeds.get(feed) ?? { isNow: false, wasBefore: false }
    this.#feeds.set(feed, seen)
    return seen
  }
}
