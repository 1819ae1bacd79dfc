import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { terminalTokenDigest } from '../../../services/platform/credentials/terminal-token.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { freePorts } from '../../support/free-ports.ts'
import { type RunningService, startService } from '../../support/processes/service-process.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { compiled } from '../../terminals/compile.ts'
import { feed, metricOf } from '../support/bench-feed.ts'

const market = join(import.meta.dirname, 'market.hpp')
const token = `fxt_${'0123456789abcdef'.repeat(2)}`
const daySeconds = 86_400
const pollMs = 50

/** Roles as the input of the program has them. */
const roles = { live: '1', history: '2' } as const

export interface TerminalBenchOptions {
  readonly symbols: number
  /** Days of history that the collector wants. */
  readonly depthDays: number
  readonly env?: Readonly<Record<string, string>>
}

/** Raw names as market.hpp has them. */
export const rawNames = (symbols: number): string[] =>
  Array.from({ length: symbols }, (_, at) => `T${String(at).padStart(4, '0')}_CFD.US`)

/** A program of a terminal as a process, which posts in real time until it is ended. */
export class BridgeProcess {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
    process.once('exit', () => child.kill('SIGKILL'))
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

/** An `fxd all` with one feed whose terminal posts, and the programs of that terminal. */
export class TerminalBench {
  readonly service: RunningService
  readonly terminalPort: number
  readonly #home: string
  readonly #symbols: number
  readonly #first: number
  readonly #bridges: BridgeProcess[] = []

  private constructor(
    home: string,
    service: RunningService,
    terminalPort: number,
    { symbols, depthDays }: TerminalBenchOptions,
  ) {
    this.#home = home
    this.service = service
    this.terminalPort = terminalPort
    this.#symbols = symbols
    this.#first = (Math.floor(systemClock.utcMs() / 60_000) - 60) * 60 - depthDays * daySeconds
  }

  static async start(options: TerminalBenchOptions): Promise<TerminalBench> {
    const { symbols, depthDays, env = {} } = options
    const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
    const manifest = feedManifest({
      source: { type: 'Terminal' },
      depth: { '1': `${depthDays}d` },
      storage: { buckets: symbols > 400 ? 16 : 4 },
    })
    mkdirSync(join(home, 'feeds'))
    mkdirSync(join(home, 'data'), { mode: 0o700 })
    writeFileSync(join(home, 'feeds', 'brokera-zero.yaml'), JSON.stringify(manifest))
    writeFileSync(join(home, 'data', 'terminal-tokens'), `${feed} ${terminalTokenDigest(token)}\n`, {
      mode: 0o600,
    })
    const [port = 0] = await freePorts(1)
    const service = await startService(home, {
      store: 'embedded',
      env: { FXD_TERMINAL_ADDR: `127.0.0.1:${port}`, ...env },
    })
    process.once('exit', () => service.process.kill('SIGKILL'))
    // No measured time has the compiler's.
    compiled('mt5', true, market)
    return new TerminalBench(home, service, port, options)
  }

  begin(role: keyof typeof roles, port = this.terminalPort): BridgeProcess {
    const inputs = { Address: `http://127.0.0.1:${port}`, Token: token, Role: roles[role] }
    const settings = { Symbols: String(this.#symbols), First: String(this.#first) }
    const child = spawn(compiled('mt5', true, market), {
      env: { ...inputs, ...settings },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const bridge = new BridgeProcess(child)
    this.#bridges.push(bridge)
    return bridge
  }

  stored(): Promise<number> {
    return metricOf(this.service, 'fxd_ingest_bars_total')
  }

  /** Resolves once so many bars are stored. */
  async untilStored(bars: number, deadlineMs: number): Promise<void> {
    const begun = performance.now()
    while ((await this.stored()) < bars) {
      if (performance.now() - begun > deadlineMs)
        throw new Error(`${await this.stored()} bars are stored, ${bars} were expected\n${this.#log()}`)
      await systemClock.sleep(pollMs)
    }
  }

  /** Posts that were refused, by code: none, unless something is wrong. */
  async refused(): Promise<string> {
    const text = await (await fetch(`${this.service.target.ops}/metrics`)).text()
    const counts = [...text.matchAll(/^fxd_terminal_posts_total\{result="(\w+)"\} (\d+)/gm)]
    return counts
      .filter(([, code, count]) => code !== 'taken' && count !== '0')
      .map(([, code, count]) => `${count} × ${code}`)
      .join(', ')
  }

  async stop(): Promise<void> {
    for (const bridge of this.#bridges) await bridge.end()
    await this.service.stop()
    rmSync(this.#home, { recursive: true, force: true })
  }

  #log(): string {
    return readFileSync(this.service.target.log, 'utf8').slice(-2_000)
  }
}
