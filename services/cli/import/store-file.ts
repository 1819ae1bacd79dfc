import type { ImportedSymbol, ImportSession } from '../../collector/feed/import-session.ts'
import { UnstoredSpans } from '../../collector/series/unstored-spans.ts'
import type { OddLine } from '../../collector/sources/mt5-csv/export/most-decimals.ts'
import type { Bars } from '../../core/bars/bar.ts'
import { defaultMaxGapSeconds } from '../../core/bars/clusters.ts'
import { subtractSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { bucketsOf, DerivedSeries } from './derive-series.ts'
import type { FileTimes } from './file/file-times.ts'
import { changedMeanwhile, type FileState, hasChanged } from './file/inspect-file.ts'
import type { LineOrder } from './file/order.ts'
import { type LineBars, type ReadRules, readLines } from './file/read-lines.ts'
import { Refusals } from './file/refusals.ts'
import { sortLines } from './file/sort-lines.ts'
import type { ImportOptions } from './options.ts'
import type { Progress } from './progress.ts'
import type { Outcome } from './report.ts'
import { SeriesSender } from './send-series.ts'
import { TooFineLines } from './too-fine-lines.ts'

export interface StoreFile {
  readonly options: ImportOptions
  readonly state: FileState
  readonly times: FileTimes
  readonly order: LineOrder
  readonly session: ImportSession
  readonly symbol: ImportedSymbol
  readonly progress: Progress
  readonly odd: OddLine | undefined
  /** Called before the first bar is sent, with what returns the outcome so far. */
  readonly onBegin: (outcome: () => Outcome) => void
}

/** Sends a file's bars, the bars derived from them, and then their windows. Resolves once all are stored. */
export async function storeFile(work: StoreFile): Promise<Outcome> {
  const { options, times, order, session, symbol, odd, onBegin } = work
  const refusals = new Refusals({
    resolution: options.resolution,
    now: () => session.feedNow(),
    onSpans: (spans) => derived.refuse(spans),
  })
  let unended: number | undefined
  let duplicates = 0
  const tooFine = new TooFineLines()
  const bars = ascendingBars(work, refusals, {
    onUnended: (line) => void (unended = line),
    onTooFine: (decimals) => tooFine.add(decimals - (symbol.decimalsMax - symbol.digits)),
    onDuplicates: (count) => void (duplicates = count),
  })
  const sender = senderOf(work, options.resolution, refusals)
  const derivedSenders = new Map(options.derive.map((r) => [r, senderOf(work, r)]))
  const derived = new DerivedSeries(derivedSenders, {
    maxGapSeconds: gapOf(options, options.resolution),
    delaySeconds: symbol.delaySeconds,
    ...times,
  })
  const windows: Span[] = []
  const refusedWindows: string[] = []
  const outcome = (): Outcome => {
    const { refused: _, ...counts } = sender.counts
    return {
      file: options.name,
      feed: options.feed,
      symbol: options.symbol,
      resolution: options.resolution,
      digits: symbol.digits,
      lines: order.lines,
      ...counts,
      refused: refusals.count,
      duplicates,
      refusals: refusals.first,
      windows,
      derived: Object.fromEntries(
        [...derivedSenders].map(([r, each]) => [
          r,
          { ...each.counts, ...derived.leftOut(r), ...refusalOf(each) },
        ]),
      ),
      ...(odd && odd.decimals > symbol.decimalsMax && { odd_line: odd }),
      ...tooFine.report,
      ...(unended !== undefined && { unended_line: unended }),
      ...(refusedWindows[0] !== undefined && {
        refused_windows: { count: refusedWindows.length, reason: refusedWindows[0] },
      }),
    }
  }
  onBegin(outcome)
  try {
    await sendAll(bars, [sender, derived])
  } catch (cause) {
    // What is in flight may be stored, so the outcome must count it.
    await Promise.all([sender, ...derivedSenders.values()].map((each) => each.settled()))
    throw cause
  }
  const claim = (r: Resolution, spans: readonly Span[]): Promise<Span[]> =>
    addWindows(work, r, spans, (why) => refusedWindows.push(why))
  windows.push(...(await claim(options.resolution, sender.spans)))
  // No window claims a derived bar that has a part in a gap of the file. A series has too many gaps for its holes.
  const gaps = between(sender.spans)
  for (const [resolution, each] of derivedSenders) {
    const inBuckets = (spans: readonly Span[]): Span[] => spans.map((span) => bucketsOf(span, resolution))
    each.holes.addSpans(inBuckets(refusals.times.holes.spans))
    await claim(resolution, subtractSpans(each.spans, inBuckets(gaps)))
  }
  return outcome()
}

async function sendAll(
  bars: AsyncIterable<LineBars>,
  receivers: readonly Pick<SeriesSender, 'add' | 'end'>[],
): Promise<void> {
  for await (const piece of bars) for (const each of receivers) await each.add(piece)
  for (const each of receivers) await each.end()
}

/** The spans ascend. */
const between = (spans: readonly Span[]): Span[] =>
  spans.slice(1).map(({ from }, i) => ({ from: (spans[i] as Span).to, to: from }))

const gapOf = ({ maxGapSeconds }: ImportOptions, r: Resolution): number =>
  maxGapSeconds ?? defaultMaxGapSeconds(r)

/** The file's good bars, each time once: in the file's order if that ascends, otherwise sorted. */
function ascendingBars(
  { options, state, order, session, symbol, progress }: StoreFile,
  refusals: Refusals,
  {
    onDuplicates,
    ...events
  }: Pick<ReadRules, 'onUnended' | 'onTooFine'> & { readonly onDuplicates: (count: number) => void },
): AsyncIterable<LineBars> {
  const rules = {
    resolution: options.resolution,
    decimalsMax: symbol.decimalsMax,
    feedNow: () => session.feedNow(),
    hasChanged: () => hasChanged(options.path, state),
    ...events,
  }
  const lines = readLines(options, rules, refusals)
  progress.begin('stored', order.lines)
  return order.unsortedLine === undefined
    ? checked(lines, options.name)
    : sortLines(lines, { name: options.name, lines: order.lines }, onDuplicates)
}

/** The scan found that the file ascends. If it no longer does, it was changed meanwhile. */
async function* checked(lines: AsyncIterable<LineBars>, name: string): AsyncGenerator<LineBars> {
  let last = Number.NEGATIVE_INFINITY
  for await (const bars of lines) {
    for (const time of bars.time) {
      if (time <= last) throw changedMeanwhile(name)
      last = time
    }
    yield bars
  }
}

const refusalOf = ({ firstRefusal }: SeriesSender): { refusal?: string } =>
  firstRefusal === undefined ? {} : { refusal: firstRefusal }

/** With `refusals` the bars are lines of the file; without, they are derived from them. */
function senderOf(
  { options, times, session, symbol, progress }: StoreFile,
  resolution: Resolution,
  refusals?: Refusals,
): SeriesSender {
  const derived = refusals === undefined
  return new SeriesSender({
    resolution,
    maxGapSeconds: gapOf(options, resolution),
    delaySeconds: symbol.delaySeconds,
    ...times,
    send: (bars: Bars) => session.send({ name: options.symbol, resolution, derived }, bars),
    holes: refusals?.times.holes ?? new UnstoredSpans(resolution),
    onRefused: (line, reason) => refusals?.add(line, reason),
    onDone: (count) => {
      if (!derived) progress.add(count)
    },
  })
}

const windowsAtOnce = 64

async function addWindows(
  { options, session }: StoreFile,
  resolution: Resolution,
  spans: readonly Span[],
  onRefused: (why: string) => void,
): Promise<Span[]> {
  const added: Span[] = []
  for (let i = 0; i < spans.length; i += windowsAtOnce) {
    const some = spans.slice(i, i + windowsAtOnce)
    const refusals = await Promise.all(
      some.map((span) => session.window({ name: options.symbol, resolution }, span)),
    )
    added.push(...some.filter((_, position) => refusals[position] === undefined))
    for (const why of refusals) if (why !== undefined) onRefused(why)
  }
  return added
}
