import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { metricOf } from '../../support/clients/metric-of.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { statusOf } from '../../support/cluster/answers.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { endWithUs } from '../../support/processes/end-with-us.ts'
import { standStill } from '../../support/processes/stand-still.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const host = '127.0.0.1'
const startDeadlineMs = 150_000
/** A failure of ours comes within two seconds; a busy machine may be late with it. */
const answerDeadlineMs = 10_000

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface QuestdbTables {
  readonly http: Endpoint
  readonly pg: Endpoint
  readonly prefix: string
}

export interface FxdOptions extends Partial<QuestdbTables> {
  /** One document each. */
  readonly manifests: readonly string[]
  /** In place of the manifests: where they are. */
  readonly feeds?: string
  /** Whose sources run. */
  readonly root?: string
  /** In place of a data folder of its own. */
  readonly data?: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly tookMs: number
}

/** Without tables of QuestDB: the embedded store. */
const storeEnvironment = ({ http, pg, prefix }: Partial<QuestdbTables>): Readonly<Record<string, string>> =>
  http === undefined || pg === undefined || prefix === undefined
    ? { FXD_STORE: 'embedded' }
    : {
        FXD_STORE: 'questdb',
        FXD_QUESTDB_HTTP: `${http.host}:${http.port}`,
        FXD_QUESTDB_PG: `${pg.host}:${pg.port}`,
        FXD_QUESTDB_PREFIX: prefix,
      }

/** A real `fxd all` with a data folder and ports of its own; killed when the test has ended. */
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
  #gone: Promise<unknown> = Promise.resolve()
  #said = ''
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

  /** Again, on the same folder and ports; resolves once it is ready. */
  async start(): Promise<void> {
    const command = [join(this.#root, 'services/main.ts'), 'all']
    const child = spawn(join(repository, 'bin/node'), command, {
      cwd: this.#root,
      env: { ...bareEnv(), ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    endWithUs(child)
    const hear = (piece: Buffer): void =>
      void (this.#said = (this.#said + piece.toString()).slice(-1_000_000))
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    this.#gone = new Promise((resolve) => child.once('close', resolve))
    const end = Date.now() + startDeadlineMs
    while ((await statusOf(this.#opsPort, '/readyz')) !== 200) {
      if (!this.isAlive || Date.now() > end) {
        await this.kill()
        throw new Error(`fxd did not become ready:\n${this.#said.slice(-4_000)}`)
      }
      await pause(50)
    }
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** Everything it wrote so far, or the end of it. */
  get log(): string {
    return this.#said
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#gone
  }

  /** As an operator would; gives how long it took. */
  async stop(): Promise<number> {
    const begun = Date.now()
    this.#child?.kill('SIGTERM')
    await this.#gone
    return Date.now() - begun
  }

  /** Resolves once it stands still in the middle of whatever it does, with its connections open. */
  freeze(): Promise<void> {
    return standStill(this.#child)
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  get token(): string {
    return readFileSync(join(this.#data, 'token'), 'utf8').trim()
  }

  /** Issues the key that `get` then shows; with `from`, that of another process on the same tables. */
  async takeKey(from?: FxdProcess): Promise<void> {
    const limits = '--rpm 1000000 --rpd 100000000 --ws-connections 10 --ws-symbols 1000'
    const flags = `--plan enterprise --feeds BROKERA:ZERO ${limits}`
    this.#key = from === undefined ? await newKey(this.#environment, flags) : from.#key
  }

  /** What `takeKey` issued. */
  get key(): string {
    return this.#key
  }

  /** Rejects when no answer comes. */
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

  /** The sum over all labels; NaN: there is no such metric. */
  metric(name: string): Promise<number> {
    return metricOf(this.#opsPort, name)
  }

  /** What `fxd doctor` prints. */
  async doctor(): Promise<string> {
    const { out, err } = await fxd('doctor', this.#environment)
    return out + err
  }
}
