import { mostDecimals } from '../../collector/sources/mt5-csv/most-decimals.ts'
import { Fatal } from '../../platform/exit.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { explained, inspectFile } from './inspect-file.ts'
import { digitsMax, type GivenOptions, type ImportOptions, parseOptions } from './options.ts'
import { type LineOrder, scanOrder } from './order.ts'
import { grouped, Progress } from './progress.ts'
import { readLines } from './read-lines.ts'
import { Refusals } from './refusals.ts'
import { type ImportReport, reportText } from './report.ts'
import { withSession } from './session.ts'
import { storeFile } from './store-file.ts'

/** `fxd import`: rejects with `Fatal` when nothing could be stored, or when lines were refused. */
export async function importFile(path: string, given: GivenOptions, terminal: Terminal): Promise<void> {
  const options = parseOptions(path, given)
  const begun = terminal.clock.monotonicMs()
  const progress = new Progress(terminal)
  const report = await run(options, terminal, progress).finally(() => progress.end())
  const seconds = Math.round(terminal.clock.monotonicMs() - begun) / 1_000
  terminal.out(given.json ? json({ ...report, seconds }) : reportText({ ...report, seconds }))
  if (report.refused > 0) {
    const lines = report.refused === 1 ? '1 line was' : `${grouped(report.refused)} lines were`
    throw new Fatal('data', `${lines} refused; every other one is stored.`)
  }
}

type Outcome = Omit<ImportReport, 'seconds'>

async function run(options: ImportOptions, terminal: Terminal, progress: Progress): Promise<Outcome> {
  const { path, resolution } = options
  const shape = await inspectFile(path, resolution)
  const decimals = await explained(path, () => mostDecimals(path, resolution))
  const order = await scanOrder(path, shape)
  if (decimals === undefined) return nothingGood(options, order)
  const digits = options.digits ?? Math.min(decimals, digitsMax)
  return withSession(options, terminal, async (session) => {
    const { symbol: name, type, description } = options
    const symbol = await session.addSymbol({ name, digits, type, description })
    return storeFile({ options, order, session, symbol, progress })
  })
}

/** No line is a bar: no symbol is added, and the service is not asked. */
async function nothingGood(options: ImportOptions, { lines }: LineOrder): Promise<Outcome> {
  const { path, feed, symbol, resolution } = options
  const refusals = new Refusals()
  const rules = { resolution, digits: digitsMax, decimalsMax: digitsMax, feedNow: () => undefined }
  for await (const _ of readLines(path, rules, refusals));
  if (refusals.count === 0)
    throw new Fatal('noInput', `${path} is empty but for its header; there is nothing to import.`)
  return {
    file: path,
    feed,
    symbol,
    resolution,
    digits: options.digits ?? 0,
    lines,
    accepted: 0,
    revised: 0,
    unchanged: 0,
    forming: 0,
    refused: refusals.count,
    duplicates: 0,
    refusals: refusals.first,
    windows: [],
    derived: {},
  }
}
