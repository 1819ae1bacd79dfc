import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { metricOf } from '../clients/metric-of.ts'
import { statusOf } from '../cluster/answers.ts'
import { freePorts } from '../free-ports.ts'
import { oneSymbolFeed, pushed } from '../samples/one-symbol-feed.ts'
import { bareEnv } from './bare-env.ts'
import { killWithParent } from './kill-with-parent.ts'

export const repository = fileURLToPath(new URL('../../..', import.meta.url))
const startDeadlineMs = 60_000

export interface ChildServiceOptions {
  readonly stdio?: StdioOptions
  readonly env?: Readonly<Record<string, string>>
  /** A shell command that the child runs first, such as `ulimit -n 160`. */
  readonly first?: string
}

export interface ChildService {
  readonly child: ChildProcess
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
  /** The file of standard output and error, unless `stdio` replaces it. */
  readonly log: string
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  /** Sends SIGTERM. Resolves with the exit code or the signal, or with `undefined` if it still runs after the deadline. */
  stop(deadlineMs: number): Promise<number | string | undefined>
}

export interface ServicePlace {
  readonly home: string
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Makes folder, free ports and variables for an `fxd all` on the embedded store, with one feed without a source. */
export async function servicePlace(more: Readonly<Record<string, string>> = {}): Promise<ServicePlace> {
  const home = mkdtempSync(join(tmpdir(), 'fxd-child-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [httpPort = 0, grpcPort = 0, opsPort = 0] = await freePorts(3)
  writeFileSync(join(home, 'feed.yaml'), oneSymbolFeed(pushed))
  const env = {
    ...bareEnv(),
    FXD_HTTP_ADDR: `127.0.0.1:${httpPort}`,
    FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`,
    FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
    FXD_DATA_DIR: join(home, 'data'),
    FXD_FEEDS: join(home, 'feed.yaml'),
    ...more,
  }
  return { home, httpPort, grpcPort, opsPort, env }
}

/** Starts `fxd all` as a separate process; resolves once it is ready. */
export async function startChildService(options: ChildServiceOptions = {}): Promise<ChildService> {
  const { home, env, ...ports } = await servicePlace(options.env)
  const log = join(home, 'log')
  const shell = `${options.first ?? ':'}; exec "$0" services/main.ts all`
  const file = openSync(log, 'a')
  const child = spawn('sh', ['-c', shell, join(repository, 'bin/node')], {
    cwd: repository,
    env,
    stdio: options.stdio ?? ['ignore', file, file],
  })
  closeSync(file)
  killWithParent(child)
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? -1))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const end = Date.now() + startDeadlineMs
  while ((await statusOf(ports.opsPort, '/readyz')) !== 200) {
    if (child.exitCode !== null || Date.now() > end) throw new Error('the service did not become ready')
    await pause(50)
  }
  return {
    child,
    ...ports,
    log,
    metric: (name, labels) => metricOf(ports.opsPort, name, labels),
    stop(deadlineMs) {
      child.kill('SIGTERM')
      return Promise.race([ended, pause(deadlineMs, undefined, { ref: false })])
    },
  }
}
