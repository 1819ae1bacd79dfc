import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Address } from '../../../services/platform/config.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { statusOf } from '../../support/cluster/answers.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { freezeProcess } from '../../support/processes/freeze-process.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const host = '127.0.0.1'
const startDeadlineMs = 150_000
/** Timeout of a request; fxd fails within 2 s, the rest is for a busy machine. */
const answerDeadlineMs = 10_000

export interface QuestdbTables {
  readonly http: Address
  readonly pg: Address
  readonly prefix: string
}

export interface FxdOptions extends Partial<QuestdbTables> {
  /** YAML documents of the feeds. */
  readonly manifests: readonly string[]
  /** Path of the manifests, instead of `manifests`. */
  readonly feeds?: string
  /** Root of the source tree to run. */
  readonly root?: string
  /** Data folder, instead of a temporary one. */
  readonly data?: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly tookMs: number
}

/** Variables of the store; embedded unless QuestDB is given. */
const storeEnvironment = ({ http, pg, prefix }: Partial<QuestdbTables>): Readonly<Record<string, string>> =>
  http === undefined || pg === undefined || prefix === undefined
    ? { FXD_STORE: 'embedded' }
    : {
        FXD_STORE: 'questdb',
        FXD_QUESTDB_HTTP: `${http.host}:${http.port}`,
        FXD_QUESTDB_PG: `${pg.host}:${pg.port}`,
        FXD_QUESTDB_PREFIX: prefix,
      }

/** A real `fxd all` with a separate data folder and ports; killed when the test has ended. */
export class FxdProcess {
  readonly home: string
  readonly grpc: string
  /** http://host:port */
  readonly url: string
  readonly #opsPort: number
  readonly #root: string
  readonly #data: string
  readonly #environment: Readonly<Record<string, string>>
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #output = ''
  #key = ''

  private constructor(options: FxdOptions, [httpPort = 0, grpcPort = 0, opsPort = 0]: readonly number[]) {
    this.home = mkdtempSync(join(tmpdir(), 'fxd-faults-'))
    this.grpc = `${host}:${grpcPort}`
    this.url = `http://${host}:${httpPort}`
    this.#opsPort = opsPort
    this.#root = options.root ?? repository
    this.#data = options.data ?? join(this.home, 'data')
    const feeds = join(this.home, 'feeds.yaml')
    writeFileSync(feeds, options.manifests.join('---\n'))
    this.#environment = {
      FXD_HTTP_ADDR: `${host}:${httpPort}`,
      FXD_GRPC_ADDR: this.grpc,
      FXD_OPS_ADDR: `${host}:${opsPort}`,
      FXD_DATA_DIR: this.#data,
      FXD_FEEDS: options.feeds ?? feeds,
      ...storeEnvironment(options),
    }
  }

  /** Resolves once it is ready. */
  static async start(options: FxdOptions): Promise<FxdProcess> {
    const made = new FxdProcess(options, await freePorts(3))
    onTestFinished(async () => {
      await made.kill()
      rmSync(made.home, { recursive: true, force: true })
    })
    await made.start()
    return made
  }

  /** Starts the process, always on the same folder and ports; resolves once it is ready. */
  async start(): Promise<void> {
    const command = [join(this.#root, 'services/main.ts'), 'all']
    const child = spawn(join(repository, 'bin/node'), command, {
      cwd: this.#root,
      env: { ...bareEnv(), ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    killWithParent(child)
    const keep = (piece: Buffer): void =>
      void (this.#output = (this.#output + piece.toString()).slice(-1_000_000))
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    this.#ended = new Promise((resolve) => child.once('close', resolve))
    const end = Date.now() + startDeadlineMs
    while ((await statusOf(this.#opsPort, '/readyz')) !== 200) {
      if (!this.isAlive || Date.now() > end) {
        await this.kill()
        throw new Error(`fxd did not become ready:\n${this.#output.slice(-4_000)}`)
      }
      await pause(50)
    }
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** The last million characters of its output. */
  get log(): string {
    return this.#output
  }

  /** Ends the process with SIGKILL, like a crash. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Ends the process with SIGTERM; returns the time it took in ms. */
  async stop(): Promise<number> {
    const begun = Date.now()
    this.#child?.kill('SIGTERM')
    await this.#ended
    return Date.now() - begun
  }

  /** Freezes the process (SIGSTOP) with its connections open; resolves once it is frozen. */
  freeze(): Promise<void> {
    return freezeProcess(this.#child)
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  get token(): string {
    return readFileSync(join(this.#data, 'token'), 'utf8').trim()
  }

  /** Issues the key that `get` sends; with `from`, uses the key of another process on the same tables. */
  async takeKey(from?: FxdProcess): Promise<void> {
    const limits = '--rpm 1000000 --rpd 100000000 --ws-connections 10 --ws-symbols 1000'
    const flags = `--plan enterprise --feeds BROKERA:ZERO ${limits}`
    this.#key = from === undefined ? await newKey(this.#environment, flags) : from.#key
  }

  /** The key of `takeKey`. */
  get key(): string {
    return this.#key
  }

  /** Requests a path of REST; rejects without an answer. */
  async get(path: string): Promise<Answer> {
    const begun = performance.now()
    const response = await fetch(`${this.url}${path}`, {
      headers: { 'x-api-key': this.#key },
      signal: AbortSignal.timeout(answerDeadlineMs),
    })
    const body: unknown = await response.json()
    return { status: response.status, body, tookMs: performance.now() - begun }
  }

  /** `ok` or `degraded`. */
  async platformStatus(): Promise<string> {
    const { body } = await this.get('/v1/status')
    return (body as { status?: string }).status ?? JSON.stringify(body)
  }

  /** Sum of a metric over all labels; NaN if it does not exist. */
  metric(name: string): Promise<number> {
    return metricOf(this.#opsPort, name)
  }

  /** Output of `fxd doctor`. */
  async doctor(): Promise<string> {
    const { out, err } = await fxd('doctor', this.#environment)
    return out + err
  }
}
