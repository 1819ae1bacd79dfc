import type { FeedStatus, Verdict } from './types.ts'

interface Seen {
  status?: Pick<FeedStatus, 'status' | 'liveness_source'>
  /** Whether a bar came since the last complete minute, and in that minute. */
  isNow: boolean
  wasBefore: boolean
}

/** Judges feeds by what the service says of them and by complete minutes, never by a timeout on bars. */
export class Liveness {
  readonly #feeds = new Map<string, Seen>()

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
    const judge = ({ status, isNow, wasBefore }: Seen): Verdict => {
      if (!isReading || status?.liveness_source !== 'heartbeat') return 'unknown'
      if (!isSound || status.status !== 'live') return 'dead'
      return isNow || wasBefore ? 'live' : 'quiet'
    }
    return Object.fromEntries([...this.#feeds].map(([feed, seen]) => [feed, judge(seen)]))
  }

  #of(feed: string): Seen {
    const seen = this.#feeds.get(feed) ?? { isNow: false, wasBefore: false }
    this.#feeds.set(feed, seen)
    return seen
  }
}
