import { BarStream } from './bar-stream.ts'
import { invalid } from './error.ts'
import { pages } from './history.ts'
import { type ReadKey, Rest } from './rest.ts'
import { seconds } from './time.ts'
import type {
  Bar,
  BarItem,
  Config,
  GapItem,
  Item,
  Logger,
  Position,
  Range,
  Resolution,
  Status,
  SymbolDetails,
  SymbolInfo,
  Time,
  Usage,
  Verdict,
} from './types.ts'

const historyPatienceMs = 120_000
const pageMax = 1_000

export interface FxdOptions {
  /** Base address of REST; default `http://127.0.0.1:8080`. */
  readonly url?: string
  /** Base address of the WebSocket; default: that of REST. */
  readonly wsUrl?: string
  /** The key, or a function that is called for each request and connection; default: `FXD_API_KEY` of the environment. */
  readonly key?: string | ReadKey
  /** Default: none. `console` is one. */
  readonly logger?: Logger
  /** Maximum bars that wait for the program; default 100,000. */
  readonly buffer?: number
}

export interface BarsOptions {
  /** Open time of the first bar, on the feeds' clocks. Without it, and without `after`, the next closed bar is the first. */
  readonly from?: Time | null | undefined
  /** The `position` of an earlier stream: the bars behind it follow. */
  readonly after?: Position | null | undefined
  /** Also gives `revised` items. */
  readonly revisions?: boolean
}

export interface HistoryOptions {
  readonly resolution?: Resolution
  /** Open time of the first and last bar on the feed's clock, both included; default: everything. */
  readonly from?: Time | null | undefined
  readonly to?: Time | null | undefined
}

export interface CoverageOptions {
  /** Only times for which a terminal answered in this resolution. */
  readonly resolution?: Resolution | undefined
}

/** A client of one fxd with one key. All times are on the clocks of the feeds, but for `status().server_time`. */
export class Fxd {
  readonly #rest: Rest
  readonly #wsUrl: string
  readonly #logger: Logger
  readonly #buffer: number
  readonly #running = new Set<BarStream<Item>>()

  constructor({ url = 'http://127.0.0.1:8080', wsUrl, key, logger = {}, buffer = 100_000 }: FxdOptions = {}) {
    if (!/^https?:/.test(url)) throw invalid('url', `${url}, wanted http://… or https://…`)
    const readKey = typeof key === 'function' ? key : () => key ?? keyOfEnvironment()
    this.#rest = new Rest(url, readKey, logger)
    this.#wsUrl = (wsUrl ?? url.replace(/^http/, 'ws')).replace(/\/+$/, '')
    this.#logger = logger
    this.#buffer = buffer
  }

  /**
   * Bars of one minute from any time into the present. `BROKER:ACCOUNT` means all symbols of a feed.
   * Each bar comes once, ascending per symbol, through outages of the service and of the network.
   */
  bars(
    symbols: string | readonly string[],
    options?: BarsOptions & { readonly revisions?: false },
  ): BarStream<BarItem | GapItem>
  bars(symbols: string | readonly string[], options: BarsOptions): BarStream<Item>
  bars(symbols: string | readonly string[], options: BarsOptions = {}): BarStream<Item> {
    const { from, after, revisions = false } = options
    const wanted = typeof symbols === 'string' ? [symbols] : [...symbols]
    const wrong = wanted.find((name) => !String(name).includes(':'))
    if (wanted.length === 0 || wrong !== undefined)
      throw invalid('symbols', `${wrong ?? 'none'}, wanted BROKER:ACCOUNT:NAME or BROKER:ACCOUNT`)
    const start = given('from', from)
    const position = Object.fromEntries(
      Object.entries(after ?? {}).map(([symbol, time]) => [symbol, seconds(`after: ${symbol}`, time)]),
    )
    return new BarStream<Item>({
      rest: this.#rest,
      wsUrl: this.#wsUrl,
      logger: this.#logger,
      buffer: this.#buffer,
      wanted,
      position,
      startOf: (symbol) => position[symbol] ?? (start && Math.max(0, start - 1)),
      withRevisions: revisions,
      running: this.#running,
    })
  }

  /** By feed, whether silence means that nothing trades; for the streams that run. */
  get liveness(): Readonly<Record<string, Verdict>> {
    return Object.assign({}, ...[...this.#running].map(({ liveness }) => liveness)) as Record<string, Verdict>
  }

  /** The bars of any range, oldest first. Each request is retried for 2 minutes. Throws `FxdError`. */
  async *history(symbol: string, options: HistoryOptions = {}): AsyncGenerator<Bar, void, undefined> {
    const { resolution = '1', from, to } = options
    const range = { from: given('from', from) ?? 0, to: given('to', to) }
    const wanted = { symbol, resolution, ...range, patienceMs: historyPatienceMs }
    for await (const page of pages(this.#rest, wanted)) yield* page
  }

  /** All symbols of the key's feeds, or those whose name contains `search`. */
  async *symbols({ search }: { readonly search?: string } = {}): AsyncGenerator<SymbolInfo, void, undefined> {
    for (let offset = 0; ; offset += pageMax) {
      const query = { search, limit: pageMax, offset }
      const page = await this.#rest.get<{ readonly symbols: readonly SymbolInfo[] }>('symbols', query)
      yield* page.symbols
      if (page.symbols.length < pageMax) return
    }
  }

  /** Everything about one symbol. Throws `SYMBOL_NOT_FOUND`. */
  symbol(key: string): Promise<SymbolDetails> {
    return this.#rest.get('symbols', { symbol: key })
  }

  /**
   * For which times a terminal answered, oldest first: of one symbol, or by symbol. Without `resolution` it is the union
   * over all resolutions. Throws `SYMBOL_NOT_FOUND`.
   */
  async coverage(symbol: string, options?: CoverageOptions): Promise<readonly Range[]>
  async coverage(
    symbol?: undefined,
    options?: CoverageOptions,
  ): Promise<Readonly<Record<string, readonly Range[]>>>
  async coverage(symbol?: string, { resolution }: CoverageOptions = {}): Promise<unknown> {
    const query = { symbol, resolution }
    const { coverage } = await this.#rest.get<{ readonly coverage: unknown }>('coverage', query)
    return coverage
  }

  /** Health and clocks of the feeds. */
  status(): Promise<Status> {
    return this.#rest.get('status')
  }

  /** Limits and use of the key, for at most 90 days. */
  usage(days?: number): Promise<Usage> {
    return this.#rest.get('usage', { days })
  }

  /** What charting libraries want to know. */
  config(): Promise<Config> {
    return this.#rest.get('config')
  }
}

const given = (name: string, time: Time | null | undefined): number | undefined =>
  time === null || time === undefined ? undefined : seconds(name, time)

function keyOfEnvironment(): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.['FXD_API_KEY'] ?? ''
}
