import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { endWithUs } from '../end-with-us.ts'
import { freePorts } from '../free-ports.ts'
import { redisParts } from './parts.ts'

const startDeadlineMs = 20_000
const host = '127.0.0.1'

export interface RedisServer {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly pid: number
  /** Ends the process as a crash would. */
  kill(): Promise<void>
  /** Starts it on the same port again, empty unless it was told to keep its data. */
  start(): Promise<void>
  /** Stands still in the middle of whatever it does, with its connections open. */
  freeze(): void
  thaw(): void
  /** One command, its words separated by spaces, over a connection of its own; gives the raw reply. */
  command(line: string): Promise<string>
  /** Ends the process and removes its folder. */
  stop(): Promise<void>
}

export interface RedisServerOptions {
  /** Settings of redis.conf, one a line. */
  readonly settings?: readonly string[]
  /** Runs as a Sentinel with this configuration file. */
  readonly sentinelFile?: (folder: string) => string
}

const settingsOfTests = [
  'appendonly no',
  'maxmemory-policy noeviction',
  'maxmemory 512mb',
  'loglevel warning',
]

/** A real Redis of its own, on a free port with a temporary folder; resolves once it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const parts = redisParts()
  const [port = 0] = await freePorts(1)
  const folder = mkdtempSync(join(tmpdir(), 'fxd-redis-'))
  let child: ChildProcess | undefined
  let gone: Promise<unknown> = Promise.resolve()

  const args = (): string[] => {
    if (options.sentinelFile) return [options.sentinelFile(folder), '--sentinel', '--port', String(port)]
    const lines = ['save ""', ...settingsOfTests, ...(options.settings ?? [])]
    return ['--port', String(port), ...lines.flatMap((line) => `--${line}`.split(' '))].map((word) =>
      word === '""' ? '' : word,
    )
  }
  const start = async (): Promise<void> => {
    const started = spawn(parts.server, [...args(), '--bind', host, '--dir', folder], {
      env: { ...process.env, ...parts.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = started
    endWithUs(started)
    let said = ''
    const hear = (piece: Buffer): void => void (said = (said + piece.toString()).slice(-4_000))
    started.stdout.on('data', hear)
    started.stderr.on('data', hear)
    gone = new Promise((resolve) => started.once('exit', resolve))
    const end = Date.now() + startDeadlineMs
    while (!(await send(port, 'PING').catch(() => '')).startsWith('+PONG')) {
      if (started.exitCode === null && started.signalCode === null && Date.now() < end) await pause(20)
      else {
        started.kill('SIGKILL')
        throw new Error(`Redis did not start:\n${said}`)
      }
    }
  }
  const signal = (name: NodeJS.Signals): void => void child?.kill(name)
  const kill = async (): Promise<void> => {
    signal('SIGKILL')
    await gone
  }
  await start()
  return {
    host,
    port,
    url: `redis://${host}:${port}`,
    get pid() {
      return child?.pid ?? 0
    },
    kill,
    start,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    command: (line) => send(port, line),
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const replyTimeoutMs = 2_000

/** The inline form of the protocol, which needs no client. */
const send = (port: number, line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ host, port }, () => void socket.write(`${line}\r\n`))
    socket.setTimeout(replyTimeoutMs, () => socket.destroy(new Error(`no answer to ${line}`)))
    socket.once('error', reject)
    let said = ''
    socket.on('data', (piece: Buffer) => {
      said += piece.toString()
      if (!isWhole(said)) return
      socket.destroy()
      resolve(said)
    })
  })

/** Whether a reply that is one line, or one text, has arrived. */
function isWhole(reply: string): boolean {
  if (!reply.endsWith('\r\n')) return false
  const length = /^\$(\d+)\r\n/.exec(reply)
  return length === null || reply.length >= length[0].length + Number(length[1]) + 2
}
