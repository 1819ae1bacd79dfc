import { type Command, Option } from 'commander'
import type { BarItem, FxdError, GapItem, Logger } from '../../clients/typescript/src/index.ts'
import type { Address } from '../platform/config.ts'
import { formatAddress, reachable } from '../platform/listen.ts'
import { Fatal } from '../platform/process/exit.ts'
import { outliveReaders } from '../platform/process/standard-streams.ts'
import { parseFeedTime, timeHelp } from './feed-time.ts'
import { withJson } from './options.ts'
import { configOf, type Terminal } from './terminal.ts'
import { minuteText } from './time-text.ts'

interface WatchOptions {
  readonly from?: string
  readonly json?: boolean
  readonly csv?: boolean
  readonly url?: string
}

/** Items that are printed before the reader of the output is waited for. */
const writeEvery = 100
const columns = ['symbol', 'time', 'open', 'high', 'low', 'close', 'volume'] as const

export function addWatch(program: Command, terminal: Terminal): void {
  withJson(program.command('watch'))
    .argument('<symbol...>', 'such as BROKERA:ZERO:EURUSD, or BROKERA:ZERO for all symbols of a feed')
    .option('--from <time>', `${timeHelp}; default: the next bar that closes`)
    .addOption(new Option('--csv', 'print CSV, with times in epoch seconds').conflicts('json'))
    .option('--url <url>', 'where REST and /v1/stream answer (default: FXD_HTTP_ADDR of this machine)')
    .summary('print bars from any time into the present')
    .description(
      'Print the bars of one minute from any time into the present, each once and in order, until Ctrl-C.\n' +
        'The key is in FXD_API_KEY. After an outage the missed bars come first. --json prints an object in each line.',
    )
    .action((symbols: readonly string[], options: WatchOptions) => watch(symbols, options, terminal))
}

/** Where a service that listens on this address answers on this machine. */
export const urlOf = (listening: Address): string => `http://${formatAddress(reachable(listening))}`

async function watch(symbols: readonly string[], options: WatchOptions, terminal: Terminal): Promise<void> {
  const { apiKey: key, httpAddr } = configOf(terminal)
  if (key === '') throw new Fatal('usage', 'FXD_API_KEY is not set; "fxd keys create" makes a key.')
  const from = options.from === undefined ? {} : { from: parseFeedTime('--from', options.from, 0) }
  const { Fxd } = await import('../../clients/typescript/src/index.ts')
  const url = options.url ?? urlOf(httpAddr)
  if (terminal.written) outliveReaders()
  if (options.csv) terminal.out(`${columns.join(',')}\n`)
  try {
    let count = 0
    const fxd = new Fxd({ url, key, logger: loggerOf(terminal) })
    for await (const item of fxd.bars(symbols, from)) {
      printItem(item, options, terminal)
      if (count++ % writeEvery === 0) await terminal.written?.()
    }
  } catch (cause) {
    // The reader of the output ended, such as `head`.
    if ((cause as { code?: unknown }).code === 'EPIPE') return
    if (!isOfClient(cause)) throw cause
    throw new Fatal(cause.status === 401 ? 'noPermission' : 'refused', `${cause.code}: ${cause.message}`)
  }
}

/** A gap goes to `err` unless JSON is printed, so that `out` has only bars. */
export function printItem(
  item: BarItem | GapItem,
  { json, csv }: WatchOptions,
  terminal: Pick<Terminal, 'out' | 'err'>,
): void {
  if (json) return terminal.out(`${JSON.stringify(item)}\n`)
  if (item.type === 'gap') {
    const range = `from ${minuteText(item.from)} to ${minuteText(item.to)}`
    return terminal.err(`fxd: ${item.symbol}: bars ${range} may be missing (${item.reason})\n`)
  }
  if (csv) return terminal.out(`${columns.map((column) => item[column]).join(',')}\n`)
  const { symbol, time, open, high, low, close, volume } = item
  terminal.out(`${[symbol, minuteText(time), open, high, low, close, volume].join('  ')}\n`)
}

function loggerOf(terminal: Terminal): Logger {
  const printLine = (text: string, fields: object): void =>
    terminal.err(`fxd: ${text} ${JSON.stringify(fields)}\n`)
  return { info: printLine, warn: printLine }
}

/** The client is loaded only by this command, so that its class is not at hand. */
const isOfClient = (cause: unknown): cause is FxdError => (cause as Error).name === 'FxdError'
