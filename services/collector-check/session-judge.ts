import { type StatusObject, status } from '@grpc/grpc-js'
import { show } from '../core/show.ts'
import type { Hello__Output } from '../wire/gen/fxd/v1/Hello.ts'
import type { IngestMessage__Output } from '../wire/gen/fxd/v1/IngestMessage.ts'
import type { RefusalReason__Output } from '../wire/gen/fxd/v1/RefusalReason.ts'
import type { Refused__Output } from '../wire/gen/fxd/v1/Refused.ts'
import type { Welcome__Output } from '../wire/gen/fxd/v1/Welcome.ts'
import type { Window__Output } from '../wire/gen/fxd/v1/Window.ts'
import { BarsJudge, type BarsJudgeDeps, unackedBarsMax } from './bars-judge.ts'
import type { Rule } from './findings.ts'
import type { Heard, RelayedSession, SessionListener } from './relay.ts'

/** A heartbeat is due every 5 s; a busy machine may be late. */
const heartbeatMsMax = 8_000
const catalogueMsMax = 10_000
/** The pause that Slow asks for, and the time for which a collector stands by. */
const pauseMs = 2_000
/** Acks are withheld before Slow until no history came for this time: what comes later was sent after Slow. */
const quietMs = 1_000
/** Windows at which a collector must stop. */
const windowsMax = 128
/** What a collector read before a session comes first in it. */
const settledMs = 2_000

/** Statuses with which ingest ends a session through no fault of the collector. */
const harmless = new Set<status>([status.OK, status.CANCELLED, status.UNAVAILABLE, status.ABORTED])

/** The rule that a refused message breaks; any other reason breaks `bars`. */
const ruleOf: Readonly<Partial<Record<RefusalReason__Output, Rule>>> = {
  REFUSAL_REASON_SEQUENCE: 'sequence',
  REFUSAL_REASON_NOT_CATALOGUED: 'catalogue',
  REFUSAL_REASON_REVISION: 'revisions',
  REFUSAL_REASON_NOT_CLOSED: 'closed',
  REFUSAL_REASON_IN_THE_FUTURE: 'closed',
}

/** Only the manifest refuses these bars; a collector need not know it. */
const blameless = new Set<RefusalReason__Output>([
  'REFUSAL_REASON_PAST_RETENTION',
  'REFUSAL_REASON_BEFORE_EARLIEST',
])

export interface SessionJudgeDeps extends BarsJudgeDeps {
  readonly identity: { hello?: Hello__Output }
  /** Clean names by raw name, over all sessions. */
  readonly names: Map<string, string>
  readonly isHolding: () => boolean
  /** True while a refused revision is expected, since the clock of ingest was set back. */
  readonly wasSetBack: () => boolean
  /** True once: the pause of Slow is asked of one session. */
  readonly takeSlow: () => boolean
}

/** Judges one session of the collector by what it sends, and by what ingest answers. */
export class SessionJudge implements SessionListener {
  readonly #deps: SessionJudgeDeps
  readonly #session: RelayedSession
  readonly #windows = new Set<number>()
  #mustStandBy: boolean
  #standsBy = false
  #knownMs: number | undefined
  #cataloguedMs: number | undefined
  #heartbeatMs: number | undefined
  #historyMs = 0
  #hasHello = false
  /** Acks are withheld until Slow. */
  isSlowing = false
  bars: BarsJudge | undefined
  isOver = false
  /** Bars of this session were refused for their revision. */
  refusedRevisions = 0

  /** `mustStandBy`: ingest says first that another collector is active. */
  constructor(deps: SessionJudgeDeps, session: RelayedSession, mustStandBy: boolean) {
    this.#deps = deps
    this.#session = session
    this.#mustStandBy = mustStandBy
  }

  /** Milliseconds since Catalogued, which permits bars; 0 before it and after the end. */
  get ageMs(): number {
    return this.#cataloguedMs === undefined || this.isOver ? 0 : this.#now - this.#cataloguedMs
  }

  heard({ bars, message }: Heard): void {
    const { findings, isHolding } = this.#deps
    if (this.#standsBy && !message?.heartbeat && !message?.clockSample)
      findings.wrong('standby', `${bars ? 'bars' : message?.message} came while the collector stood by`)
    if (message?.hello) this.#takeHello(message.hello)
    else if (message?.heartbeat) this.#heartbeatMs = this.#now
    else if (message?.window) this.#takeWindow(message.window)
    else if (message?.catalogue) findings.seen('catalogue')
    if (!bars || this.#cataloguedMs === undefined) return
    findings.seen('sequence')
    this.bars?.take(bars, { isHeld: isHolding() || this.isSlowing, isSettled: this.ageMs > settledMs })
    this.#judgeNames(bars.series.map(({ symbol }) => symbol))
    if (bars.lane !== 'backfill') return
    this.#historyMs = this.#now
    if (this.#deps.takeSlow()) this.#slowDown()
  }

  #slowDown(): void {
    this.isSlowing = true
    this.#session.hold()
    const stop = this.#deps.clock.every(quietMs / 2, () => {
      if (!this.isOver && this.#now - this.#historyMs < quietMs) return
      stop()
      this.isSlowing = false
      this.#session.send({ slow: { pauseMs } })
      this.bars?.slow(pauseMs)
      this.#session.release()
    })
  }

  answered({ welcome }: IngestMessage__Output): void {
    if (!welcome?.active) return
    welcome.unackedBarsMax = unackedBarsMax
    if (!this.#mustStandBy) return
    this.#mustStandBy = false
    this.#standsBy = true
    this.#session.send({ welcome: { active: false, utcMs: welcome.utcMs } })
    this.#session.hold()
    this.#deps.clock.after(pauseMs, () => this.#session.release())
  }

  delivered({ welcome, known, catalogued, ack, refused }: IngestMessage__Output): void {
    if (welcome) this.#begin(welcome)
    if (known) {
      this.bars?.known(known)
      if (known.last) this.#knownMs = this.#now
    }
    if (catalogued) {
      for (const { raw, symbol } of catalogued.names) this.#deps.names.set(raw, symbol)
      for (const { raw, reason } of catalogued.refused)
        this.#deps.findings.wrong('catalogue', `the symbol ${show(raw)} was refused: ${reason}`)
      if (catalogued.last) this.#cataloguedMs ??= this.#now
    }
    if (refused) this.#takeRefused(refused)
    if (ack) {
      this.#deps.unacked.acked(ack.sequence)
      this.#windows.delete(ack.sequence)
    }
  }

  ended({ code, details }: Pick<StatusObject, 'code' | 'details'>): void {
    const { findings, unacked } = this.#deps
    this.tick()
    this.isOver = true
    if (!harmless.has(code))
      findings.wrong('session', `ingest ended a session with ${status[code]}: ${details}`)
    else if (this.#hasHello) findings.seen('session')
    unacked.ended()
  }

  /** Judges what did not come in time. */
  tick(): void {
    const { findings } = this.#deps
    if (this.isOver || this.#knownMs === undefined) return
    const sinceKnownMs = this.#now - this.#knownMs
    if (this.#cataloguedMs === undefined && sinceKnownMs > catalogueMsMax && !findings.hasWrong('catalogue'))
      findings.wrong('catalogue', `no Catalogue came within ${catalogueMsMax / 1_000} s after Known`)
    if (this.#cataloguedMs === undefined) return
    if (this.#session.isPaused) this.#heartbeatMs = this.#now
    const silentMs = this.#now - Math.max(this.#heartbeatMs ?? 0, this.#cataloguedMs)
    if (this.ageMs > heartbeatMsMax) findings.seen('heartbeats')
    if (this.bars?.hasKnown && this.ageMs > settledMs) findings.seen('known')
    if (silentMs <= heartbeatMsMax) return
    findings.wrong('heartbeats', `no Heartbeat came for ${Math.round(silentMs / 1_000)} s`)
    this.#heartbeatMs = this.#now
  }

  get #now(): number {
    return this.#deps.clock.monotonicMs()
  }

  #begin(welcome: Welcome__Output): void {
    if (!welcome.active) return
    if (this.#standsBy) this.#deps.findings.seen('standby')
    this.#standsBy = false
    this.bars = new BarsJudge(this.#deps, welcome.utcMs)
  }

  #takeHello(hello: Hello__Output): void {
    const { findings, identity } = this.#deps
    this.#hasHello = true
    findings.seen('hello')
    const before = identity.hello
    identity.hello ??= hello
    if (hello.mode !== 'SESSION_MODE_LIVE')
      findings.wrong('hello', `Hello.mode is ${hello.mode}, a collector needs SESSION_MODE_LIVE`)
    for (const field of ['collectorId', 'feed'] as const)
      if (before && before[field] !== hello[field]) {
        const name = field === 'feed' ? 'feed' : 'collector_id'
        findings.wrong('hello', `Hello.${name} was ${show(before[field])}, and is ${show(hello[field])} now`)
      }
  }

  #takeWindow(window: Window__Output): void {
    const { findings, unacked } = this.#deps
    findings.seen('windows', 'sequence')
    this.#windows.add(window.sequence)
    if (window.symbol !== '') this.#judgeNames([window.symbol])
    if (this.#windows.size >= windowsMax)
      findings.wrong('bounds', `${this.#windows.size} windows had no Ack; stay below ${windowsMax}`)
    const missing = unacked.inside(window)
    if (missing === undefined) return
    const { symbol, resolution, from, to } = window
    findings.wrong(
      'windows',
      `the window [${from}, ${to}) of ${symbol || 'all symbols'} ${resolution} came before the Ack of ${missing}`,
    )
  }

  #judgeNames(symbols: readonly string[]): void {
    const { findings, names } = this.#deps
    for (const symbol of symbols) {
      const clean = names.get(symbol)
      if (clean !== undefined && clean !== symbol)
        findings.wrong(
          'names',
          `${show(symbol)} is a raw name; Catalogued gave it the clean name ${show(clean)}`,
        )
    }
    if ([...names].some(([raw, clean]) => raw !== clean)) findings.seen('names')
  }

  #takeRefused({ sequence, bars }: Refused__Output): void {
    const { findings, unacked, wasSetBack } = this.#deps
    for (const { reason, message, series, index, count } of bars) {
      if (reason === 'REFUSAL_REASON_REVISION' && wasSetBack()) {
        this.refusedRevisions += count
        unacked.refusedRevision(sequence, { series, index, count })
        continue
      }
      // A measured clock is not known before its first ticks.
      if (blameless.has(reason) || message.includes('clock is unknown')) continue
      const why = `sequence ${sequence}, ${count} bars of series ${series} from index ${index} on: ${message}`
      findings.wrong(ruleOf[reason] ?? 'bars', why)
    }
  }
}
