import type { Clocks } from './clocks.ts'
import { FxdError } from './error.ts'
import { Followed } from './followed.ts'
import { type Frame, feedOf } from './frames.ts'
import { attemptMs, Held, type ReadCoverage, unfilledMs } from './held.ts'
import type { Liveness } from './liveness.ts'
import { named, subscribe, unsubscribe } from './messages.ts'
import { minute } from './time.ts'
import type { Bar, Item, Logger, RevisedItem } from './types.ts'

/** The service ends a replay after two minutes, so a GAP that comes later is another one. */
const replayMs = 130_000
const rejectedMs = 60_000
/** Since a new socket. A collector that was away at the same time may bring what it missed in parts. */
const doubtMs = 120_000
/** A bar of a delayed symbol comes later than the frame of its minute. */
const delayMax = 60 * minute
/** History is read for longer than asked, since the reach of the service moves on meanwhile. */
const historyMore = 60 * minute

export interface SubscriptionsDeps {
  /** The time after which bars of a symbol begin; `undefined`: with the next bar that closes. */
  startOf(symbol: string): number | undefined
  readonly clocks: Clocks
  readonly liveness: Liveness
  readonly logger: Logger
  readonly withRevisions: boolean
  /** Returns false if there is no room: the item is not taken, and the socket is closed. A gap always has room. */
  give(item: Item): boolean
  /** Bars of the symbol begin after this time. */
  began(symbol: string, time: number): void
  send(message: object): void
  fail(error: FxdError): void
  readonly coverage: ReadCoverage
  /** The symbol is in state `history` now. */
  readHistory(followed: Followed): void
}

/** The list of wanted symbols. It decides what is subscribed, and which bars are given. */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps
  readonly #feeds: ReadonlySet<string>
  readonly #followed = new Map<string, Followed>()
  readonly #held: Held
  #leaving: string[] = []
  #maxSymbols = 0
  #sockets = 0
  #openedMs = 0
  #isOpen = false

  constructor(wanted: readonly string[], deps: SubscriptionsDeps) {
    this.#deps = deps
    this.#held = new Held(deps.coverage)
    const isFeed = (name: string): boolean => name.split(':').length === 2
    this.#feeds = new Set(wanted.filter(isFeed))
    for (const symbol of wanted) if (!isFeed(symbol)) this.#follow(symbol)
  }

  opened(): void {
    this.#isOpen = true
    this.#sockets += 1
    this.#openedMs = performance.now()
    this.#deps.liveness.opened()
    this.#flush(true)
  }

  closed(): void {
    this.#isOpen = false
    this.#leaving = []
    for (const each of this.#followed.values()) {
      if (each.state === 'history') continue
      each.state = 'idle'
      // While there is no connection nothing can be filled.
      each.gapMs = undefined
      each.held = undefined
      each.gaps = []
      each.isInDoubt = each.position !== undefined
    }
  }

  /** Called each second. */
  tick(): void {
    if (!this.#isOpen) return
    const now = performance.now()
    const held: Followed[] = []
    for (const each of this.#followed.values()) {
      if ((each.state !== 'waiting' && each.state !== 'rejected') || now < each.dueMs) continue
      if (each.held !== undefined && each.state === 'waiting') {
        held.push(each)
        continue
      }
      if (each.gapMs !== undefined && now - each.gapMs > unfilledMs) this.#giveUp(each)
      each.state = 'idle'
    }
    void this.#held.review(held, () => this.#isOpen && this.#flush(false))
    this.#flush(false)
  }

  received(frame: Frame): void {
    const { liveness, clocks } = this.#deps
    switch (frame.type) {
      case 'bar':
        liveness.bar(feedOf(frame.symbol))
        clocks.saw(feedOf(frame.symbol), frame.bar.time)
        this.#bar(frame.symbol, frame.bar)
        break
      case 'bars':
        liveness.bar(frame.feed)
        clocks.saw(frame.feed, frame.time)
        for (const [name, open, high, low, close, volume] of frame.bars)
          this.#bar(`${frame.feed}:${name}`, { time: frame.time, open, high, low, close, volume })
        break
      case 'minute':
        liveness.minute(frame.feed)
        clocks.saw(frame.feed, frame.time)
        for (const each of this.#followed.values())
          if (each.feed === frame.feed && each.state === 'live')
            each.covered = Math.max(each.covered, frame.time - delayMax)
        break
      case 'feed':
        liveness.status(frame.feed, frame)
        break
      case 'revised':
        this.#revised(frame)
        break
      case 'connected':
        this.#maxSymbols = frame.limits.max_symbols
        break
      case 'subscribed':
        this.#subscribed(frame)
        break
      case 'unsubscribed':
        if (frame.reason === undefined) break
        this.#deps.fail(
          new FxdError(frame.reason, `the key has no access to ${named(frame.symbols)} any more`),
        )
        break
      case 'error':
        this.#error(frame)
        break
      default:
    }
  }

  /** There must be room. */
  giveHistory(followed: Followed, bar: Bar): void {
    this.#give(followed, bar)
  }

  /** History up to `historyTo` was given: the service can replay the rest. */
  historyRead(followed: Followed): void {
    followed.covered = followed.historyTo
    followed.gapMs = undefined
    followed.state = 'idle'
    if (this.#isOpen) this.#flush(false)
  }

  gapOfClock(feed: string, from: number, to: number): void {
    for (const { symbol, feed: own } of this.#followed.values())
      if (own === feed) this.#deps.give({ type: 'gap', symbol, from, to, reason: 'clock' })
  }

  #follow(symbol: string): Followed {
    const known = this.#followed.get(symbol)
    if (known) return known
    const followed = new Followed(
      symbol,
      this.#deps.startOf(symbol),
      this.#deps.clocks.newestClosed(feedOf(symbol)),
    )
    this.#followed.set(symbol, followed)
    const { position } = followed
    if (position !== undefined) this.#deps.began(symbol, position)
    return followed
  }

  #bar(symbol: string, bar: Bar): void {
    const followed = this.#followed.get(symbol)
    if (followed?.state !== 'live') return
    if (followed.mayMiss(bar.time)) return this.#hold(followed, bar.time)
    this.#give(followed, bar)
    if (performance.now() - this.#openedMs > doubtMs) followed.isInDoubt = false
  }

  #hold(followed: Followed, time: number): void {
    const isFirst = followed.held === undefined
    followed.held ??= time
    followed.gapMs ??= performance.now()
    this.#retry(followed, isFirst ? 0 : attemptMs(followed))
  }

  #revised(frame: RevisedItem): void {
    const followed = this.#followed.get(frame.symbol)
    // History has later bars that will not be pushed.
    if (followed?.state === 'live' && frame.resolution === '1' && frame.to > (followed.since ?? frame.to))
      this.#retry(followed, 0)
    if (this.#deps.withRevisions) this.#deps.give(frame)
  }

  #give(followed: Followed, { time, open, high, low, close, volume }: Bar): boolean {
    if (followed.last !== undefined && time <= followed.last) return true
    const { symbol } = followed
    for (let [gap] = followed.gaps; gap && gap.from < time; [gap] = followed.gaps) {
      this.#deps.give({ type: 'gap', symbol, ...gap, reason: 'unfilled' })
      followed.gaps.shift()
    }
    if (!this.#deps.give({ type: 'bar', symbol, time, open, high, low, close, volume })) return false
    followed.last = time
    if (followed.state === 'live' && time >= (followed.held ?? 0)) followed.settle()
    return true
  }

  #subscribed(frame: Frame & { type: 'subscribed' }): void {
    const { symbols, rejected, rejected_feeds: feeds = [], since = {}, reason } = frame
    for (const symbol of symbols) {
      const followed = this.#follow(symbol)
      // A symbol of a whole feed comes without a time at first.
      const isLate = followed.state === 'idle' && followed.last !== undefined
      if (isLate) this.#retry(followed, 0)
      else if (followed.state === 'asked' || followed.state === 'idle') this.#begin(followed, since[symbol])
    }
    if (rejected.length + feeds.length > 0) this.#rejected([...rejected, ...feeds], reason !== undefined)
    this.#flush(false)
  }

  #begin(followed: Followed, since: number | undefined): void {
    followed.liveMs = performance.now()
    const wanted = followed.since
    if (since === undefined || wanted === undefined || since <= wanted) {
      followed.state = 'live'
      return
    }
    followed.state = 'history'
    followed.historyTo = since + historyMore
    this.#leaving.push(followed.symbol)
    this.#deps.readHistory(followed)
  }

  /**
   * A symbol that was accepted before may come back. One of a whole feed joins once there is a place. Others end the
   * iterator on its first socket.
   */
  #rejected(names: readonly string[], isUnasked: boolean): void {
    const why = `unknown, not granted, or more than ${this.#maxSymbols} symbols`
    const mayJoin = (name: string): boolean => !this.#feeds.has(name) && this.#feeds.has(feedOf(name))
    const isKnown = (name: string): boolean => (this.#followed.get(name)?.liveMs ?? 0) > 0
    const wrong = names.filter((name) => !isKnown(name) && !mayJoin(name))
    if (wrong.length > 0 && this.#sockets === 1 && !isUnasked)
      return this.#deps.fail(new FxdError('SYMBOL_REJECTED', `rejected: ${named(wrong)}: ${why}`))
    this.#deps.logger.warn?.('symbols rejected', { symbols: named(names), why })
    for (const name of names) {
      const followed = this.#followed.get(name)
      if (!followed) continue
      followed.state = 'rejected'
      followed.dueMs = performance.now() + rejectedMs
    }
  }

  #error({ code, message, gaps = [] }: Frame & { type: 'error' }): void {
    // A close follows an error that names a key.
    if (code === 'BAD_MESSAGE' || code === 'UNSUPPORTED_TYPE')
      return this.#deps.fail(new FxdError(code, `the service does not support this client: ${message}`))
    const now = performance.now()
    for (const { symbol, after } of gaps) {
      const followed = this.#followed.get(symbol)
      if (followed?.state !== 'live') continue
      followed.last ??= followed.floor ?? after
      // The clock is unknown and no bar came yet: there is nothing to fill.
      if (followed.last === undefined) continue
      if (followed.gapMs === undefined || now - followed.liveMs > replayMs) followed.gapMs = now
      this.#retry(followed, attemptMs(followed))
    }
    this.#flush(false)
  }

  /** Subscribes again with `since`, so that the service sends what is missing. Until then bars are not kept. */
  #retry(followed: Followed, afterMs: number): void {
    followed.state = 'waiting'
    followed.dueMs = performance.now() + afterMs
    this.#leaving.push(followed.symbol)
  }

  #giveUp(followed: Followed): void {
    const { symbol, feed, since = 0 } = followed
    const from = since + minute
    const to = Math.max(from, this.#deps.clocks.newestClosed(feed) ?? 0)
    this.#deps.give({ type: 'gap', symbol, from, to, reason: 'unfilled' })
    followed.covered = to
    followed.gapMs = undefined
  }

  /** Unsubscribes and subscribes, in as few messages as possible. A new socket gets the whole feeds last. */
  #flush(isNew: boolean): void {
    const idle = [...this.#followed.values()].filter(({ state }) => state === 'idle')
    // These may have joined with their feed. The service ignores the time of a symbol that is subscribed.
    if (!isNew) for (const { symbol, feed } of idle) if (this.#feeds.has(feed)) this.#leaving.push(symbol)
    for (const each of idle) each.state = 'asked'
    const since = new Map(idle.map((each) => [each.symbol, each.since]))
    const feeds = isNew ? [...this.#feeds] : []
    for (const message of [...unsubscribe(this.#leaving), ...subscribe(since, feeds)])
      this.#deps.send(message)
    this.#leaving = []
  }
}
