import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-ports.ts'
import { programOf } from '../processes/debian-packages.ts'
import { ServerProcess } from '../processes/server-process.ts'

const startDeadlineMs = 20_000
const name = 'Redis'
const loopback = '127.0.0.1'

export interface RedisServer {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly url: string
  readonly pid: number
  /** Resolves when its present life ends, with the exit code or the signal. */
  readonly ended: Promise<number | string>
  /** Ends the process as a crash would. */
  kill(): Promise<void>
  /** Starts it on the same port again, empty unless it was told to keep its data. */
  start(): Promise<void>
  /** Resolves once it stands still in the middle of whatever it does, with its connections open. */
  freeze(): Promise<void>
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
  /** Where it listens; loopback when left out. */
  readonly host?: string
}

const majorMin = 7
/** The server, with what its process needs as environment; redis-cli is beside it. */
export const redisProgram = () =>
  programOf({
    // The server and what it links beyond a minimal system.
    packages: ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'],
    path: 'usr/bin/redis-server',
    versionArgs: ['--version'],
    accepts: (version) => Number(/v=(\d+)/.exec(version)?.[1] ?? 0) >= majorMin,
    advice: `install Redis ${majorMin} or newer (Debian: "apt-get install redis-server", macOS: "brew install redis")`,
  })

const settingsOfTests = [
  'appendonly no',
  'maxmemory-policy noeviction',
  'maxmemory 512mb',
  'loglevel warning',
]

/** A real Redis of its own, on a free port with a temporary folder; resolves once it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { command, env } = redisProgram()
  const { host = loopback } = options
  const [port = 0] = await freePorts(1)
  const folder = mkdtempSync(join(tmpdir(), 'fxd-redis-'))
  const process = new ServerProcess({
    name,
    command,
    args: [...argsOf(options, folder, port), '--bind', host, '--dir', folder],
    env,
    answers: () =>
      send({ host, port }, 'PING').then(
        // One that wants a password first has started, too.
        (reply) => /^(\+PONG|-NOAUTH)/.test(reply),
        () => false,
      ),
    startDeadlineMs,
  })
  await process.start()
  return {
    name,
    host,
    port,
    url: `redis://${host}:${port}`,
    get pid() {
      return process.pid
    },
    get ended() {
      return process.ended
    },
    kill: () => process.kill(),
    start: () => process.start(),
    freeze: () => process.freeze(),
    thaw: () => process.thaw(),
    command: (line) => send({ host, port }, line),
    async stop() {
      await process.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function argsOf({ sentinelFile, settings = [] }: RedisServerOptions, folder: string, port: number): string[] {
  if (sentinelFile) return [sentinelFile(folder), '--sentinel', '--port', String(port)]
  const lines = ['save ""', ...settingsOfTests, ...settings]
  const words = lines.flatMap((line) => `--${line}`.split(' '))
  return ['--port', String(port), ...words.map((word) => (word === '""' ? '' : word))]
}

const replyTimeoutMs = 2_000

/** The inline form of the protocol, which needs no client. */
const send = (at: { host: string; port: number }, line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(at, () => void socket.write(`${line}\r\n`))
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
