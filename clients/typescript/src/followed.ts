import { feedOf } from './frames.ts'
import { minute } from './time.ts'
import type { Range } from './types.ts'

/**
 * - `idle`: to be subscribed to on the next occasion;
 * - `asked`: the subscription is not answered yet;
 * - `live`: each bar that comes is the next one;
 * - `waiting`: unsubscribed after a GAP, or because minutes are missing, until `dueMs`;
 * - `rejected`: the same, after a rejection;
 * - `history`: unsubscribed, bars are read from history.
 */
export type State = 'idle' | 'asked' | 'live' | 'waiting' | 'rejected' | 'history'

/** One wanted symbol. Bars of it are given in state `live` and from history, and only if they are later than `last`. */
export class Followed {
  readonly symbol: string
  readonly feed: string
  state: State = 'idle'
  /** Time of the last bar given, or the time after which the program wants bars. */
  last: number | undefined
  /** The newest closed minute when the program began without a time: the next one is the first. */
  readonly floor: number | undefined
  /** All bars up to here were given, or named as a gap. */
  covered = 0
  /** Last minute that must be read from history. */
  historyTo = 0
  /** Minutes before the next bar may be missing, since the socket is new, or no bar came on it. */
  isInDoubt: boolean
  /** The bar before which minutes are missing. */
  held: number | undefined
  /** Up to here coverage has all minutes, or `gaps` names them. */
  sure = 0
  /** Missing minutes that are named before the next later bar. */
  gaps: Range[] = []
  /** When the GAP came, or a bar was held, that is not filled yet. */
  gapMs: number | undefined
  /** When the subscription was answered; 0: never. */
  liveMs = 0
  /** When to subscribe again. */
  dueMs = 0
  attempts = 0

  constructor(symbol: string, last: number | undefined, floor: number | undefined) {
    this.symbol = symbol
    this.feed = feedOf(symbol)
    this.last = last
    this.floor = floor
    this.isInDoubt = last !== undefined
  }

  /** Whether bars before this one may still be on their way into history, and would not be pushed. */
  mayMiss(time: number): boolean {
    const { isInDoubt, since, sure } = this
    return isInDoubt && since !== undefined && time > Math.max(since, sure) + minute
  }

  /** Nothing is missing any more, or `gaps` names it. */
  settle(): void {
    this.held = undefined
    this.gapMs = undefined
    this.attempts = 0
  }

  get position(): number | undefined {
    return this.last ?? this.floor
  }

  /** The time to subscribe with; `undefined`: the feed's clock is unknown, and bars begin with the next one. */
  get since(): number | undefined {
    const { position } = this
    return position === undefined ? undefined : Math.max(position, this.covered)
  }
}
