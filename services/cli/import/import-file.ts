import type { ImportSession } from '../../collector/feed/import-session.ts'
import { mostDecimals } from '../../collector/sources/mt5-csv/export/most-decimals.ts'
import type { Chunk, Position } from '../../collector/sources/mt5-csv/export/read-export.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { digitsMax } from '../../core/feeds/symbol.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { Clock } from '../../ports/clock.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { checkName, checkSpacing } from './check-resolution.ts'
import type { FileTimes } from './file/file-times.ts'
import { explained, type FileState, inspectFile, noInput } from './file/inspect-file.ts'
import { scanOrder } from './file/order.ts'
import { checkSortable } from './file/sort-lines.ts'
import { standardInput, withStandardInput } from './file/standard-input.ts'
import { type GivenOptions, type ImportOptions, parseOptions } from './options.ts'
import { grouped, Progress } from './progress.ts'
import { type ImportReport, type Outcome, reportText } from './report.ts'
import { withSession } from './session.ts'
import { type StoreFile, storeFile } from './store-file.ts'

/**
 * Runs `fxd import`. Rejects with `Fatal` when it ended early, or when a line, a derived bar or a window was not stored.
 * What was stored is reported also when it fails. The name `-` means standard input.
 */
export async function importFile(name: string, given: GivenOptions, terminal: Terminal): Promise<void> {
  const isPiped = name === '-'
  const options = parseOptions(isPiped ? standardInput : name, given, terminal.folder)
  const begun = terminal.clock.monotonicMs()
  const print = (outcome: Outcome, early: Pick<ImportReport, 'ended_early'> = {}): void => {
    const seconds = Math.round(terminal.clock.monotonicMs() - begun) / 1_000
    const report = { ...outcome, seconds, ...early }
    terminal.out(given.json ? json(report) : reportText(report))
  }
  const progress = new Progress(terminal)
  let soFar: (() => Outcome) | undefined
  const work: Work = { terminal, progress, onBegin: (outcome) => void (soFar = outcome) }
  let outcome: Outcome
  try {
    outcome = await (isPiped ? runPiped(options, work) : run(options, work)).finally(() => progress.end())
  } catch (cause) {
    const ended = soFar?.()
    if (ended && storedOf(ended) > 0) print(ended, { ended_early: true })
    throw cause
  }
  print(outcome)
  const faults = [
    ...refusedText(outcome),
    ...tooFineText(outcome, options.digits),
    ...leftOutText(outcome),
    ...refusedDerivedText(outcome),
    ...windowText(outcome),
  ]
  if (faults.length > 0) throw new Fatal('data', faults.join(' '))
}

const storedOf = ({ accepted, revised, unchanged }: Outcome): number => accepted + revised + unchanged

function* refusedText(outcome: Outcome): Generator<string> {
  const { refused, forming } = outcome
  if (refused === 0) return
  const lines = refused === 1 ? '1 line was' : `${grouped(refused)} lines were`
  const others = forming > 0 ? 'every other one that has closed is stored' : 'every other one is stored'
  yield `${lines} refused; ${storedOf(outcome) === 0 ? 'none is stored' : others}.`
}

/** `asked`: the value of --digits. A symbol that a manifest or collector lists keeps its own. */
function* tooFineText(
  { too_fine: fine, digits, symbol }: Outcome,
  asked: number | undefined,
): Generator<string> {
  if (!fine || fine.digits > digitsMax) return
  const cure =
    asked !== undefined && asked > digits
      ? `the manifest or the collector of the feed says ${digits}, so change it there`
      : `--digits ${fine.digits} accepts them, unless a manifest or collector lists ${symbol}`
  yield `${grouped(fine.count)} of them have more decimals than the ${digits} digits of ${symbol}: ${cure}.`
}

function* leftOutText({ derived }: Outcome): Generator<string> {
  const leftOut = Object.entries(derived).filter(([, { incomplete }]) => incomplete > 0)
  if (leftOut.length === 0) return
  const counts = leftOut.map(
    ([resolution, { incomplete }]) => `${grouped(incomplete)} of resolution ${resolution}`,
  )
  yield `Derived bars were left out (${counts.join(', ')}): the file has no good line for some of their minutes.`
}

function* refusedDerivedText({ derived }: Outcome): Generator<string> {
  for (const [resolution, { refused, refusal }] of Object.entries(derived)) {
    if (refused > 0)
      yield `${grouped(refused)} derived bars of resolution ${resolution} were refused (first reason: ${refusal}).`
  }
}

function* windowText({ refused_windows: windows }: Outcome): Generator<string> {
  if (windows)
    yield `Coverage does not show ${grouped(windows.count)} of the stored ranges (first reason: ${windows.reason}).`
}

type Work = Pick<StoreFile, 'progress' | 'onBegin'> & { readonly terminal: Terminal }

async function runPiped(options: ImportOptions, work: Work): Promise<Outcome> {
  const { terminal } = work
  // An unknown feed or a refused token is reported before all input is read.
  const readAt = await withSession(options, terminal, (session) => Promise.resolve(session.feedNow()))
  return withStandardInput(terminal.input(), (path) => run({ ...options, path }, work, { readAt }))
}

/** `piped`: when standard input was read, whose copy is the file. */
async function run(
  options: ImportOptions,
  { terminal, progress, onBegin }: Work,
  piped?: Pick<FileTimes, 'readAt'>,
): Promise<Outcome> {
  const { path, name, resolution } = options
  checkName(options)
  const state = await inspectFile(options)
  let start: Position | undefined
  let badLines = 0
  const onChunk = ({ bad, positionOf }: Chunk): void => {
    start ??= positionOf(1)
    badLines += bad.length
  }
  const found = await explained(name, () => mostDecimals(path, resolution, { untilBar: true, onChunk }))
  if (start === undefined) throw noInput(`${name} is empty; there is nothing to import.`)
  if (found === undefined && badLines === 0)
    throw noInput(`${name} has a header and no bars; there is nothing to import.`)
  const begin = start
  await checkSpacing(options)
  const digits = options.digits ?? Math.min(found?.digits ?? 0, digitsMax)
  return withSession(options, terminal, async (session) => {
    const times = piped ? { ...piped, writtenAt: undefined } : timesOf(state, session, terminal.clock)
    // Within the session, because this reads the whole file: an unknown feed is reported first.
    progress.begin('read', state.bytes, 'bytes')
    const order = await explained(name, () => scanOrder(path, begin, (bytes) => progress.add(bytes)))
    checkSortable(name, order)
    const { type, description } = options
    const symbol = await session.addSymbol({ name: options.symbol, digits, type, description })
    return storeFile({ options, state, times, order, session, symbol, progress, odd: found?.odd, onBegin })
  })
}

function timesOf({ modifiedMs }: FileState, session: ImportSession, clock: Clock): FileTimes {
  const readAt = session.feedNow()
  const ageSeconds = Math.max(0, clock.utcMs() - modifiedMs) / 1_000
  const writtenAt = readAt === undefined ? undefined : feedSeconds(Math.floor(readAt - ageSeconds))
  return { readAt, writtenAt }
}
