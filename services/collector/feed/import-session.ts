import { type Bars, barCount, pickBars } from '../../core/bars/bar.ts'
import type { RefusalReason } from '../../core/bars/bar-rules.ts'
import type { Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds, utcMs } from '../../core/clocks/feed-clock.ts'
import { isResolution, type Resolution } from '../../core/feeds/resolution.ts'
import type { SymbolType } from '../../core/feeds/symbol.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { Clock } from '../../ports/clock.ts'
import { barsAboveScale } from '../../wire/bars-above-scale.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import type { Peer } from '../connection/dial.ts'
import { backfillMessagesMax } from '../connection/history-room.ts'
import { packBars } from '../connection/pack-bars.ts'
import { type Answer, type Greeting, reasonOf, SessionClient } from '../connection/session-client.ts'
import { derivedRevision, Revisions } from '../series/revisions.ts'

export interface ImportSessionDeps extends Peer {
  /** BROKER:ACCOUNT; ingest answers NOT_FOUND for any other text. */
  readonly feed: string
  readonly clock: Clock
}

export interface ImportSymbol {
  /** The clean name. */
  readonly name: string
  readonly digits: number
  readonly type?: SymbolType | undefined
  readonly description?: string | undefined
}

/** The symbol in the registry. What the feed's manifest or collector lists has priority over an import. */
export interface ImportedSymbol {
  readonly digits: number
  /** Maximum decimals of a price: one more than `digits` on mid-quoted feeds. */
  readonly decimalsMax: number
  readonly delaySeconds: number
}

export interface ImportRefusal {
  /** Index of the first refused bar, in the bars as they were sent. */
  readonly index: number
  readonly count: number
  readonly reason: RefusalReason
  readonly message: string
}

export interface ImportOutcome {
  readonly accepted: number
  readonly revised: number
  readonly unchanged: number
  /** The reason `NOT_CLOSED` means a bar that is still forming. */
  readonly refused: readonly ImportRefusal[]
}

/** Ingest refused a symbol; the message says why. */
export class ImportRefused extends Error {}

/**
 * An import into a running service, in addition to the feed's own collector. Every promise rejects with
 * `Disconnected` when the connection ends. Bars whose promise resolved before are stored, and sending all
 * of them again changes nothing.
 */
export interface ImportSession {
  /** The resolutions that the feed lists. */
  readonly resolutions: readonly Resolution[]
  /** The current time on the feed's clock, by ingest's clock; `undefined` while the feed's clock is unknown. */
  feedNow(): FeedSeconds | undefined
  /** Adds the symbol where the feed lacks it. Rejects with `ImportRefused`. */
  addSymbol(symbol: ImportSymbol): Promise<ImportedSymbol>
  /**
   * Resolves once all valid bars are stored and visible. Bars ascend strictly; their revision column is
   * not read. Their number has no limit. For throughput, call it again without waiting for the result.
   */
  send(series: ImportSeries, bars: Bars): Promise<ImportOutcome>
  /**
   * Claims that all bars of this series in this span were sent. Call it after `send` has resolved. Resolves with the
   * reason if ingest refused the window; its bars stay stored.
   */
  window(series: Omit<ImportSeries, 'derived'>, span: Span): Promise<string | undefined>
  close(): Promise<void>
}

export interface ImportSeries {
  /** Clean name of a symbol that was added. */
  readonly name: string
  readonly resolution: Resolution
  /** Folded from finer bars: bars read from a terminal have priority. */
  readonly derived?: boolean | undefined
}

/** Rejects with `Disconnected`: NOT_FOUND for an unknown feed, UNAUTHENTICATED, or UNAVAILABLE. */
export async function openImport(deps: ImportSessionDeps): Promise<ImportSession> {
  const { feed, clock } = deps
  const client = new SessionClient({
    ...deps,
    hello: {
      feed,
      collectorId: `import-${clock.randomHex(4)}`,
      mode: 'SESSION_MODE_IMPORT',
      terminal: 'import',
    },
  })
  return importOver(client, await client.greeting, clock)
}

function importOver(client: SessionClient, { welcome, offsetMs }: Greeting, clock: Clock): ImportSession {
  const revisions = new Revisions({ utcMs: () => utcMs(clock.utcMs() + offsetMs) })
  const semaphore = new Semaphore(backfillMessagesMax)
  const symbols = new Map<string, ImportedSymbol>()
  const feedOffsetMs = welcome.feedNow === undefined ? undefined : welcome.feedNow * 1000 - welcome.utcMs

  return {
    resolutions: welcome.resolutions.filter(isResolution),
    feedNow: () =>
      feedOffsetMs === undefined
        ? undefined
        : feedSeconds(Math.floor((clock.utcMs() + offsetMs + feedOffsetMs) / 1000)),
    async addSymbol({ name, digits, type = '', description = '' }) {
      const requested = { name, digits, type, description }
      const { names, refused } = await client.catalogue([requested], { snapshot: false })
      const added = names[0]
      if (!added) throw new ImportRefused(refused[0]?.reason ?? `${name} was not accepted`)
      const decimalsMax = added.digits + (welcome.midQuoted ? 1 : 0)
      const symbol = { digits: added.digits, decimalsMax, delaySeconds: added.delaySeconds }
      symbols.set(name, symbol)
      return symbol
    },
    async send({ name, resolution, derived = false }, bars) {
      const scale = symbols.get(name)?.decimalsMax
      if (scale === undefined) throw new ImportRefused(`${name} was not added before its bars`)
      const { fitting, refused, originOf } = fitScale(bars, scale)
      const stamp = derived ? derivedRevision : revisions.next({ symbol: name, resolution })
      const revision = new Float64Array(barCount(fitting)).fill(stamp)
      const answers: Promise<Answer>[] = []
      const starts: number[] = []
      let start = 0
      const series = { symbol: name, resolution, scale, bars: { ...fitting, revision } }
      for (const { message, count } of packBars([series], batchBarsMax)) {
        await semaphore.enter(1)
        const answer = client.bars('BACKFILL', message).finally(() => semaphore.leave(1))
        // An earlier piece may fail while a later one waits for capacity; Promise.all below reports the failure.
        answer.catch(() => undefined)
        answers.push(answer)
        starts.push(start)
        start += count
      }
      const outcomes = (await Promise.all(answers)).map((answer, i) =>
        outcomeOf(answer, starts[i] as number, originOf),
      )
      return outcomes.reduce(addOutcomes, { accepted: 0, revised: 0, unchanged: 0, refused })
    },
    async window({ name, resolution }, span) {
      const { refused } = await client.window({ ...span, symbol: name, resolution })
      return refused[0]?.message
    },
    close: () => client.close(),
  }
}

/** Removes bars whose prices the wire format would have to round. */
function fitScale(
  bars: Bars,
  scale: number,
): { fitting: Bars; refused: ImportRefusal[]; originOf: ((index: number) => number) | undefined } {
  const beyond = new Set(barsAboveScale(bars, scale))
  if (beyond.size === 0) return { fitting: bars, refused: [], originOf: undefined }
  const message = `a price has more decimals than the ${scale} of its symbol`
  const refused = [...beyond].map((index) => ({ index, count: 1, reason: 'SCALE' as const, message }))
  const kept = [...bars.time.keys()].filter((index) => !beyond.has(index))
  return {
    fitting: pickBars(bars, (index) => !beyond.has(index)),
    refused,
    originOf: (index) => kept[index] ?? index,
  }
}

/** Converts indexes within the message to indexes within the bars as they were sent. */
function outcomeOf(
  { accepted, revised, unchanged, refused }: Answer,
  start: number,
  originOf: ((index: number) => number) | undefined,
): ImportOutcome {
  const refusals = refused.map(({ index, count, reason, message }) => ({
    index: start + index,
    count,
    reason: reasonOf(reason),
    message,
  }))
  if (!originOf) return { accepted, revised, unchanged, refused: refusals }
  const single = refusals.flatMap(({ index, count, ...why }) =>
    Array.from({ length: count }, (_, i) => ({ ...why, index: originOf(index + i), count: 1 })),
  )
  return { accepted, revised, unchanged, refused: single }
}

const addOutcomes = (a: ImportOutcome, b: ImportOutcome): ImportOutcome => ({
  accepted: a.accepted + b.accepted,
  revised: a.revised + b.revised,
  unchanged: a.unchanged + b.unchanged,
  refused: [...a.refused, ...b.refused],
})
