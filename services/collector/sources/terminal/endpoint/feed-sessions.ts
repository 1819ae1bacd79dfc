import type { FeedKey } from '../../../../core/feeds/compound-key.ts'
import { formatAnswer } from '../../../../core/terminal/answer.ts'
import type { Head } from '../../../../core/terminal/head.ts'
import type {
  AnswerLine,
  TerminalHello,
  TerminalLine,
  TerminalRole,
} from '../../../../core/terminal/lines.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { terminalIdentity } from '../../../terminal-pin.ts'
import { NotTaken, type TerminalFeed } from '../terminal-feed.ts'
import { PostRate } from './post-rate.ts'
import { Refusal } from './refusal.ts'

/** A terminal that has not posted for so long is taken for gone. */
const silenceMs = 30_000
const replacedMax = 10

interface Session {
  readonly number: number
  readonly role: TerminalRole
  readonly identity: string
  readonly address: string
  readonly rate: PostRate
  /** When the last post came, by the monotonic clock. */
  lastMs: number
  /** The last answered sequence, and the answer to it. */
  sequence: number
  answer: string
  isBusy: boolean
}

/** The sessions of one feed at this collector: one of role Both, or one each of Live and History. */
export class FeedSessions {
  readonly #clock: Clock
  readonly #key: FeedKey
  readonly #feed: TerminalFeed
  readonly #open = new Map<number, Session>()
  readonly #hellos = new PostRate()
  #isGreeting = false
  /** The sessions that were replaced last: their terminal learns why. */
  #replaced: readonly number[] = []

  constructor(key: FeedKey, feed: TerminalFeed, clock: Clock) {
    this.#key = key
    this.#clock = clock
    this.#feed = feed
  }

  /** Counts a post of this session before it is read further; 0: a hello. Throws a `Refusal` for an unknown session, and above the maximum. */
  count(number: number): void {
    const nowMs = this.#clock.monotonicMs()
    if (number === 0) return this.#hellos.count(nowMs)
    const session = this.#sessionOf(number)
    session.lastMs = nowMs
    session.rate.count(nowMs)
  }

  /** The kept answer to a post that repeats the last one; `undefined`: it is the next one. Throws a `Refusal` otherwise. */
  repeated({ session: number, sequence }: Head): string | undefined {
    if (number === 0) return undefined
    const session = this.#sessionOf(number)
    if (session.isBusy)
      throw new Refusal('BUSY', 'A post of this session is under way; post the same again after a second.', 1)
    if (sequence > 0 && sequence === session.sequence) return session.answer
    if (sequence === session.sequence + 1) return undefined
    const wanted = `${session.sequence} or ${session.sequence + 1}`
    throw new Refusal('SEQUENCE', `The sequence is ${sequence}, wanted ${wanted}; begin with hello.`)
  }

  /** Begins a session; resolves with the text of the answer. */
  async greet(hello: TerminalHello, address: string): Promise<string> {
    if (this.#isGreeting)
      throw new Refusal('BUSY', 'Another hello is under way; post it again after a second.', 1)
    this.#isGreeting = true
    try {
      return await this.#begin(hello, address)
    } finally {
      this.#isGreeting = false
    }
  }

  /** Applies the lines of the next post; resolves with the text of the answer. */
  async take({ session: number, sequence }: Head, lines: readonly TerminalLine[]): Promise<string> {
    const session = this.#sessionOf(number)
    this.#checkPin(session)
    session.isBusy = true
    try {
      const answer = await orRefused(this.#feed.take(number, lines))
      // Another terminal may have taken over meanwhile.
      this.#sessionOf(number)
      session.sequence = sequence
      session.answer = formatAnswer({ session: number, sequence, lines: answer })
      return session.answer
    } finally {
      session.isBusy = false
      session.lastMs = this.#clock.monotonicMs()
    }
  }

  /** Ends the sessions whose terminal is silent. */
  endSilent(): void {
    const untilMs = this.#clock.monotonicMs() - silenceMs
    for (const session of this.#open.values())
      if (!session.isBusy && session.lastMs <= untilMs) this.#end(session)
  }

  async #begin(hello: TerminalHello, address: string): Promise<string> {
    const feed = this.#feed
    const identity = terminalIdentity(hello)
    this.#refuseOther(identity)
    // Without a pin, a person has accepted another terminal. No open session may keep it away.
    const isPinned = feed.pin.identity !== undefined
    const before = [...this.#open.values()].filter(({ role }) => !isPinned || overlap(role, hello.role))
    if (isPinned) this.#refuseSecond(before, hello, identity)
    for (const session of before) this.#end(session)
    this.#replaced = [...this.#replaced, ...before.map(({ number }) => number)].slice(-replacedMax)
    // A number that an earlier process gave must not be taken for one of this process.
    const number = Number.parseInt(this.#clock.randomHex(6), 16) + 1
    const lines = await orRefused(feed.begin(number, hello))
    feed.pin.offer(identity)
    const answer = formatAnswer({ session: number, sequence: 0, lines })
    this.#open.set(number, {
      number,
      role: hello.role,
      identity,
      address,
      rate: new PostRate(),
      lastMs: this.#clock.monotonicMs(),
      sequence: 0,
      answer,
      isBusy: false,
    })
    return answer
  }

  /** A terminal of the same account and role was restarted: it does not wait. */
  #refuseSecond(before: readonly Session[], { role }: TerminalHello, identity: string): void {
    const nowMs = this.#clock.monotonicMs()
    for (const session of before) {
      const leftMs = session.lastMs + silenceMs - nowMs
      const isRestart = session.identity === identity && (role === session.role || role === 'Both')
      if (isRestart || leftMs <= 0) continue
      const ago = Math.floor((nowMs - session.lastMs) / 1_000)
      throw new Refusal(
        'SECOND_TERMINAL',
        `Another terminal (role ${session.role}, at ${session.address}) posted ${ago} s ago; stop it, or wait ${silenceMs / 1_000} s.`,
        Math.ceil(leftMs / 1_000),
      )
    }
  }

  /** Ingest may have named another terminal since the hello, or a person may have accepted another one. */
  #checkPin(session: Session): void {
    if (this.#feed.pin.identity === session.identity) return
    // An open session would keep the pinned account's terminal away.
    this.#end(session)
    this.#refuseOther(session.identity)
    throw new Refusal('NO_SESSION', 'The terminal of this feed is to be pinned again; begin with hello.')
  }

  #refuseOther(identity: string): void {
    const { isKnown, identity: pinned } = this.#feed.pin
    if (!isKnown)
      throw new Refusal('NOT_TAKEN', 'The collector has not reached ingest yet; post the same again.')
    if (pinned === undefined || pinned === identity) return
    throw new Refusal(
      'OTHER_ACCOUNT',
      `This feed takes bars of ${pinned}, and this terminal is ${identity}; "fxd feeds terminal ${this.#key} --accept" accepts it.`,
    )
  }

  #sessionOf(number: number): Session {
    const session = this.#open.get(number)
    if (session) return session
    if (this.#replaced.includes(number))
      throw new Refusal('SUPERSEDED', 'Another terminal took over; wait 30 s, then begin with hello.')
    throw new Refusal(
      'NO_SESSION',
      'This session is not known here: the collector was restarted, or the terminal was silent for 30 s; begin with hello.',
    )
  }

  #end({ number }: Session): void {
    this.#open.delete(number)
    this.#feed.end(number)
  }
}

const overlap = (a: TerminalRole, b: TerminalRole): boolean => a === 'Both' || b === 'Both' || a === b

/** Rejects with a `Refusal` where the feed rejects with `NotTaken`. */
async function orRefused(answer: Promise<readonly AnswerLine[]>): Promise<readonly AnswerLine[]> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof NotTaken) throw new Refusal('NOT_TAKEN', cause.message)
    throw cause
  }
}
