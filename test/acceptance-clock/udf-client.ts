import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * A charting client that knows UDF and nothing of this service. It does what the public client of the library does: it sends no
 * header, ignores the status of an answer, and takes any body without `s` for a symbol.
 */
export interface ChartClient {
  onReady(ready: (config: Config) => void): void
  getServerTime(told: (seconds: number) => void): void
  searchSymbols(
    text: string,
    exchange: string,
    type: string,
    found: (items: readonly FoundItem[]) => void,
  ): void
  resolveSymbol(name: string, resolved: (info: SymbolInfo) => void, failed: (reason: string) => void): void
  getBars(
    info: SymbolInfo,
    resolution: string,
    period: Period,
    got: (bars: readonly ChartBar[], meta: { readonly noData?: boolean; readonly nextTime?: number }) => void,
    failed: (reason: string) => void,
  ): void
}

export interface Config {
  readonly supports_search?: boolean
  readonly supports_time?: boolean
  readonly supported_resolutions?: readonly string[]
  readonly exchanges?: readonly { readonly value: string }[]
  readonly symbols_types?: readonly { readonly value: string }[]
}

export interface FoundItem {
  readonly symbol: string
  readonly ticker?: string
  readonly description: string
  readonly exchange: string
  readonly type: string
}

export interface SymbolInfo {
  readonly name: string
  readonly ticker: string
  readonly session: string
  readonly timezone: string
  readonly minmov: number
  readonly pricescale: number
  readonly has_intraday: boolean
  readonly has_weekly_and_monthly: boolean
  readonly intraday_multipliers: readonly string[]
  readonly supported_resolutions: readonly string[]
}

export interface Period {
  readonly from: number
  readonly to: number
  readonly countBack: number
  readonly firstDataRequest: boolean
}

/** Its time is in milliseconds. */
export interface ChartBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume?: number
}

type Json = Readonly<Record<string, unknown>>

/** What the client uses where `/config` fails: no search, and symbols by group, which this service has not. */
const configWithoutServer: Config = { supports_search: false }

class UdfClient implements ChartClient {
  readonly #url: string
  readonly #config: Promise<Config | undefined>

  constructor(url: string) {
    this.#url = url
    const isConfig = (body: Json): boolean => 'supports_search' in body || 'supports_group_request' in body
    this.#config = this.#ask('config').then(
      (body) => (isConfig(body) ? (body as Config) : undefined),
      () => configWithoutServer,
    )
  }

  /** With a body that is no config the chart never becomes ready. */
  onReady(ready: (config: Config) => void): void {
    void this.#config.then((config) => config && ready(config))
  }

  getServerTime(told: (seconds: number) => void): void {
    void this.#text('time').then((text) => told(Number.parseInt(text, 10)))
  }

  searchSymbols(
    text: string,
    exchange: string,
    type: string,
    found: (items: readonly FoundItem[]) => void,
  ): void {
    const query = { limit: 30, query: text.toUpperCase(), type, exchange }
    void this.#ask('search', query).then(
      (body) => found(body['s'] === undefined ? (body as unknown as FoundItem[]) : []),
      () => found([]),
    )
  }

  resolveSymbol(name: string, resolved: (info: SymbolInfo) => void, failed: (reason: string) => void): void {
    void this.#ask('symbols', { symbol: name }).then(
      (body) => (body['s'] === undefined ? resolved(filled(body)) : failed('unknown_symbol')),
      () => failed('unknown_symbol'),
    )
  }

  getBars(
    ...[info, resolution, { from, to, countBack }, got, failed]: Parameters<ChartClient['getBars']>
  ): void {
    const query = { symbol: info.ticker, resolution, from, to, countback: countBack }
    void this.#ask('history', query).then(
      (body) => {
        if (body['s'] === 'no_data') {
          const next = body['nextTime'] as number | undefined
          return got([], { noData: true, ...(next !== undefined && { nextTime: next * 1_000 }) })
        }
        if (body['s'] !== 'ok') return failed(String(body['errmsg']))
        const column = (name: string) => body[name] as readonly number[]
        const bars = column('t').map((time, i) => ({
          time: time * 1_000,
          open: Number(column('o')[i]),
          high: Number(column('h')[i]),
          low: Number(column('l')[i]),
          close: Number(column('c')[i]),
          volume: Number(column('v')[i]),
        }))
        return got(bars, { noData: false })
      },
      (error: unknown) => failed(String(error)),
    )
  }

  async #ask(path: string, query: Readonly<Record<string, string | number>> = {}): Promise<Json> {
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    return JSON.parse(await this.#text(`${path}?${parameters.join('&')}`)) as Json
  }

  async #text(path: string): Promise<string> {
    return (await fetch(`${this.#url}/${path}`)).text()
  }
}

/** The client fills in what a symbol lacks: a tick size of 0, and multipliers that hide resolutions. */
const filled = (body: Json): SymbolInfo =>
  ({
    minmov: body['minmovement'] ?? 0,
    has_intraday: false,
    intraday_multipliers: ['1', '5', '15', '30', '60'],
    ...body,
  }) as unknown as SymbolInfo

/** The public client from a file of yours, where FXD_UDF_BUNDLE names one; it has no licence and is not part of this project. */
export async function openClient(url: string, bundle = process.env['FXD_UDF_BUNDLE']): Promise<ChartClient> {
  if (bundle === undefined) return new UdfClient(url)
  const loaded = (await import(pathToFileURL(resolve(bundle)).href)) as Record<string, unknown>
  const places = [loaded, loaded['default'], (globalThis as Record<string, unknown>)['Datafeeds']]
  const holder = places.find((place) => (place as Json | undefined)?.['UDFCompatibleDatafeed'] !== undefined)
  const Client = (holder as Json)['UDFCompatibleDatafeed'] as new (at: string, pollMs: number) => ChartClient
  return new Client(url, 3_600_000)
}
