import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import type { Bar } from '../../acceptance/client/bars.ts'
import { barsOf, type History } from '../../acceptance/client/history.ts'
import { StreamClient } from '../../faults/support/stream-client.ts'
import type { Program } from '../../support/cluster/program.ts'
import { freePorts } from '../../support/free-ports.ts'
import { TerminalDouble } from '../../terminals/double/terminal-double.ts'
import { domain, ports } from '../cluster/ingress.ts'
import { tlsTunnel } from '../tls-tunnel.ts'
import { type Installed, namespace, terminalFeed } from './installed.ts'
import { Outside } from './outside.ts'
import { kubectlOf, secretValue } from './under-load.ts'

const symbols = ['EURUSD', 'GBPUSD', 'USDJPY'] as const
const suffix = '.z'
const historySeconds = 7_200
/** The waits of the program in the terminal take their time. */
const realTime = {
  utcMs: () => utcMs(Date.now()),
  monotonicMs: () => performance.now(),
  advance: (ms: number) => pause(ms),
}

/** The Feed TERMINAL:MT5, with the program for MetaTrader 5 that posts to its collector through the ingress. */
export class TerminalFeed {
  static readonly key = 'TERMINAL:MT5'
  readonly #installed: Installed
  readonly #outside: Outside
  readonly #tunnel: Program
  readonly #port: number
  readonly #from = Math.floor(Date.now() / 60_000) * 60 - historySeconds
  #token = ''
  #terminal: TerminalDouble | undefined
  #client: StreamClient | undefined
  #key = ''

  private constructor(installed: Installed, port: number) {
    this.#installed = installed
    this.#outside = new Outside(installed)
    this.#port = port
    const { cluster, ca: authority } = installed
    const ingress = `${cluster.network.address}:${ports.https}`
    this.#tunnel = tlsTunnel({ home: cluster.folder, port, ingress, domain, authority })
  }

  /** Resolves once the Feed is ready, before its terminal begins. */
  static async apply(installed: Installed): Promise<TerminalFeed> {
    const [port = 0] = await freePorts(1)
    const feed = new TerminalFeed(installed, port)
    await feed.setTokenIssue(1)
    await kubectlOf(installed)('wait', `feed/${terminalFeed}`, '--for=condition=Ready', '--timeout=90s')
    await feed.#tunnel.start()
    return feed
  }

  /** A greater number rotates the token. */
  setTokenIssue(tokenIssue: number): Promise<void> {
    return this.#installed.cluster.apply({
      apiVersion: 'marketdata.fxd.dev/v1alpha1',
      kind: 'Feed',
      metadata: { name: terminalFeed, namespace },
      spec: {
        broker: 'TERMINAL',
        account: 'MT5',
        clock: { mode: 'UTC' },
        quoteBasis: 'Bid',
        resolutions: ['1'],
        depth: { '1': '6h' },
        symbols: { suffixes: [suffix], list: [] },
        source: { type: 'Terminal' },
        collector: { tokenIssue },
      },
    })
  }

  token(): Promise<string> {
    return secretValue(kubectlOf(this.#installed), `${terminalFeed}-terminal`, 'token')
  }

  /** Whether the collector knows this token. Its answer to an empty post is a refusal. */
  async accepts(token: string): Promise<boolean> {
    const url = `${await this.#postAddress()}/v1/terminal`
    const { status } = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
    if (![400, 401].includes(status)) throw new Error(`an empty post was answered with ${status}`)
    return status === 400
  }

  /** Starts the program in the terminal with this token, or starts it again. */
  async connect(token: string): Promise<void> {
    this.#token = token
    if (this.#terminal) return this.#terminal.restart()
    const given = (): string => this.#token
    const options = {
      clock: realTime,
      role: '0' as const,
      address: await this.#postAddress(),
      get token() {
        return given()
      },
    }
    this.#terminal = new TerminalDouble(options)
    this.#terminal.symbols = symbols.map((symbol) => `${symbol}${suffix}`)
  }

  /** What the program printed in the journal of the terminal. */
  get journal(): readonly string[] {
    return this.#terminal?.printed ?? []
  }

  get sessions(): number {
    return this.journal.filter((line) => line.includes('answers; session')).length
  }

  /** Opens a socket for all symbols, which resumes with `since`. */
  subscribe(key: string): void {
    this.#key = key
    this.#client = new StreamClient({
      name: 'client of the terminal',
      url: this.#outside.ws,
      connection: this.#outside.connection,
      key,
      feed: TerminalFeed.key,
      symbols,
      resumes: true,
      random: () => 0,
    }).start()
  }

  /** Bars of all symbols that came to sockets. */
  get pushed(): number {
    return symbols.reduce((sum, symbol) => sum + this.#pushed(symbol).length, 0)
  }

  /** Time of the newest bar that came to sockets for all symbols. */
  get newestPushed(): number {
    return Math.min(...symbols.map((symbol) => this.#pushed(symbol).at(-1)?.time ?? 0))
  }

  /**
   * Where history or the sockets together do not have each bar once that the terminal has closed: a sentence for each symbol.
   * History is compared for two hours, the sockets since their first bar.
   */
  async differences(): Promise<readonly string[]> {
    const to = Math.floor(Date.now() / 60_000) * 60
    const compared = symbols.map(async (symbol) => {
      const [stored, pushed] = [await this.#stored(symbol), this.#pushed(symbol)]
      const closed = (from = this.#from): readonly Bar[] =>
        (this.#terminal?.bars(`${symbol}${suffix}`, from, to) ?? []).map(({ fields }) => barIn(fields))
      return [
        ...difference(`history of ${symbol}`, closed(), before(stored, to)),
        ...difference(`socket, ${symbol}`, closed(pushed[0]?.time), before(pushed, to)),
      ]
    })
    return (await Promise.all(compared)).flat()
  }

  /** The bars that all sockets received, in order of arrival. */
  #pushed(symbol: string): readonly Bar[] {
    const seen = this.#client?.records.flatMap((record) => record.seen) ?? []
    return seen.flatMap((each) => (each.type === 'bar' && each.symbol === symbol ? [each.bar] : []))
  }

  async #stored(symbol: string): Promise<readonly Bar[]> {
    const path = `/v1/history?symbol=${TerminalFeed.key}:${symbol}&resolution=1&from=${this.#from}&to=4000000000`
    const { status, body } = await this.#outside.get(path, this.#key)
    if (status !== 200) throw new Error(`history answered ${status}`)
    return barsOf(body as History)
  }

  /** Ends the terminal. Returns what the sanitizers of its program printed. */
  async stop(): Promise<string> {
    await this.#client?.stop()
    const defects = await this.#terminal?.stop()
    await this.#tunnel.kill()
    return defects ?? ''
  }

  /** The address that the Feed shows, through the tunnel. */
  async #postAddress(): Promise<string> {
    const path = '-o=jsonpath={.status.addresses[0]}'
    const address = await kubectlOf(this.#installed)('get', `feed/${terminalFeed}`, path)
    return `http://127.0.0.1:${this.#port}${new URL(address).pathname}`
  }
}

const before = (bars: readonly Bar[], to: number): readonly Bar[] => bars.filter(({ time }) => time < to)

function difference(what: string, wanted: readonly Bar[], got: readonly Bar[]): readonly string[] {
  const at = wanted.findIndex((bar, i) => !isDeepStrictEqual(bar, got[i]))
  if (at < 0 && wanted.length === got.length) return []
  const [shown, had] = [wanted, got].map((bars) => JSON.stringify(bars[at < 0 ? wanted.length : at]))
  return [`${what}: ${wanted.length} bars closed, ${got.length} came; wanted ${shown}, got ${had}`]
}

function barIn(fields: readonly (number | string)[]): Bar {
  const [time = 0, open = 0, high = 0, low = 0, close = 0, volume = 0] = fields.map(Number)
  return { time, open, high, low, close, volume }
}
