import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from './free-ports.ts'
import type { Target } from './target.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const manifests = join(repository, 'test/acceptance/feeds')
const startDeadlineMs = 60_000
const stopDeadlineMs = 15_000

/** Loopback address from which the process of the suite accepts forwarded chains. */
const trustedProxy = '127.0.0.2'

export interface RunningService {
  readonly target: Target
  readonly process: ChildProcess
  /** Resolves with the exit code (or the name of the signal) once the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

/** Writes the manifests of the suite into `folder`; each Mt5Csv feed gets a followed folder under `input`. */
const writeManifests = (folder: string, input: string): void => {
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(manifests)) {
    const text = readFileSync(join(manifests, file), 'utf8').replaceAll('INPUT_FOLDER', input)
    writeFileSync(join(folder, file), text)
    if (text.includes('Mt5Csv')) mkdirSync(join(input, file.replace('.yaml', '')), { recursive: true })
  }
}

const answers200 = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const request = http.get(url, { agent: false, timeout: 2000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('error', () => resolve(false))
    request.on('timeout', () => request.destroy())
  })

/** Removes all FXD_ variables: the service gets its own here, and would refuse those of the test run. */
export const withoutServiceVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('FXD_')))

/** Store of the services of this suite; its vitest project sets it. */
const storeOfTheSuite = (): string => process.env['FXD_ACCEPTANCE_STORE'] ?? 'embedded'

/** Variables that select the store; on the QuestDB of the run each folder has its own table prefix. */
export const storeOf = (home: string, store: string = storeOfTheSuite()): Record<string, string> => {
  if (store === 'embedded') return {}
  const { FXD_ACCEPTANCE_QUESTDB_HTTP: writes, FXD_ACCEPTANCE_QUESTDB_PG: reads } = process.env
  if (store !== 'questdb' || writes === undefined || reads === undefined)
    throw new Error(`The store is "${store}", which was not started.`)
  const name = createHash('sha256').update(home).digest('hex').slice(0, 12)
  return {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: writes,
    FXD_QUESTDB_PG: reads,
    FXD_QUESTDB_PREFIX: `a${name}_`,
  }
}

/** A folder for one service: manifests, input, data and log; `discard` removes it. */
export const makeHome = (): { home: string; discard: () => void } => {
  const home = mkdtempSync(join(tmpdir(), 'fxd-acceptance-'))
  writeManifests(join(home, 'feeds'), join(home, 'input'))
  return { home, discard: () => rmSync(home, { recursive: true, force: true }) }
}

/** Starts `fxd all` of the tree at `root` on `ports` (default: free ones) with its state under `home`; resolves when ready. */
export const startService = async (
  home: string,
  {
    root = process.env['FXD_ACCEPTANCE_ROOT'] ?? repository,
    store = storeOfTheSuite(),
    env = {},
    ports,
  }: { root?: string; store?: string; env?: Record<string, string>; ports?: readonly number[] } = {},
): Promise<RunningService> => {
  const [httpPort, grpcPort, opsPort] = ports ?? (await freePorts(3))
  const settings = {
    FXD_HTTP_ADDR: `127.0.0.1:${httpPort}`,
    FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`,
    FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
    FXD_DATA_DIR: join(home, 'data'),
    FXD_FEEDS: join(home, 'feeds'),
    FXD_TRUSTED_PROXIES: `${trustedProxy}/32`,
    ...storeOf(home, store),
    ...env,
  }
  const command = [join(repository, 'bin/node'), join(root, 'services/main.ts')] as const
  const log = join(home, 'service.log')
  // Opened at once: a stream may open it after the end of the process, when its folder is removed already.
  const file = openSync(log, 'a')
  const child = spawn(command[0], [command[1], 'all'], {
    cwd: root,
    env: { ...withoutServiceVariables(process.env), ...settings },
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? -1))
  })

  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const timedOut = pause(stopDeadlineMs, undefined, { ref: false }).then(() => {
      child.kill('SIGKILL')
      return `still running ${stopDeadlineMs} ms after ${signal}`
    })
    return Promise.race([ended, timedOut])
  }

  const ops = `http://127.0.0.1:${opsPort}`
  const end = Date.now() + startDeadlineMs
  while (!(await answers200(`${ops}/readyz`))) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop('SIGKILL')
      throw new Error(`the service did not become ready:\n${readFileSync(log, 'utf8').slice(-4000)}`)
    }
    await pause(50)
  }

  const assigned = Object.entries(settings).map(([name, value]) => `${name}='${value}'`)
  const tool = `${assigned.join(' ')} '${command[0]}' '${command[1]}'`
  return {
    target: {
      url: `http://127.0.0.1:${httpPort}`,
      ws: `ws://127.0.0.1:${httpPort}`,
      ops,
      grpc: `127.0.0.1:${grpcPort}`,
      token: join(home, 'data', 'token'),
      issuer: `${tool} keys`,
      importer: `${tool} import`,
      input: join(home, 'input'),
      log,
    },
    process: child,
    stop,
  }
}
