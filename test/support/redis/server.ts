import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pair } from '../fixtures/certificate-fixture.ts'
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
  /** The port with TLS, where one was wanted. */
  readonly tlsPort: number | undefined
  readonly url: string
  readonly pid: number
  /** Resolves at the end of the present process with its exit code or signal. */
  readonly ended: Promise<number | string>
  /** Ends the process like a crash, with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again on the same port; empty, unless its settings keep the data. */
  start(): Promise<void>
  /** Stops the process with SIGSTOP; its connections stay open. Resolves once it is frozen. */
  freeze(): Promise<void>
  thaw(): void
  /** Sends one command over a new connection; its words are separated by spaces. Resolves with the raw reply. */
  command(line: string): Promise<string>
  /** Ends the process and removes its folder. */
  stop(): Promise<void>
}

export interface RedisServerOptions {
  /** Lines of redis.conf. */
  readonly settings?: readonly string[]
  /** Runs the server as a Sentinel. Writes its configuration file into the folder and returns its path. */
  readonly sentinelFile?: (folder: string) => string
  /** Address to listen on; default: loopback. */
  readonly host?: string
  /** Serves a further port with TLS. Servers use TLS among each other, too. */
  readonly tls?: ServerTls
  /** Password with which `command` authenticates. */
  readonly password?: string
}

export interface ServerTls extends Pair {
  /** Path of a PEM file of the authority. */
  readonly ca: string
}

const majorMin = 7
/** The command of the server and its environment; redis-cli is in the same folder. */
export const redisProgram = () =>
  programOf({
    // The server and the libraries that a minimal system lacks.
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

/** Starts a Redis on a free port with a temporary folder; resolves once it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { command, env } = redisProgram()
  const { host = loopback, tls, password } = options
  const [port = 0, secondPort = 0] = await freePorts(2)
  const folder = mkdtempSync(join(tmpdir(), 'fxd-redis-'))
  const process = new ServerProcess({
    name,
    command,
    args: [
      ...argsOf(options, folder, port),
      ...(tls ? tlsArgs(tls, secondPort) : []),
      '--bind',
      host,
      '--dir',
      folder,
    ],
    env,
    answers: () =>
      send({ host, port }, 'PING').then(
        // A server that requires a password has started too.
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
    tlsPort: tls && secondPort,
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
    command: (line) => send({ host, port }, line, password),
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

const tlsArgs = ({ cert, key, ca }: ServerTls, port: number): readonly string[] =>
  [
    ['--tls-port', String(port)],
    ['--tls-cert-file', cert],
    ['--tls-key-file', key],
    ['--tls-ca-cert-file', ca],
    ['--tls-auth-clients', 'no'],
    ['--tls-replication', 'yes'],
  ].flat()

const replyTimeoutMs = 2_000
/** The reply to AUTH. */
const accepted = '+OK\r\n'

/** Sends a command in the inline form of the protocol, which needs no client library. */
const send = (at: { host: string; port: number }, line: string, password?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const lines = password === undefined ? [line] : [`AUTH ${password}`, line]
    const socket = createConnection(at, () => void socket.write(lines.map((each) => `${each}\r\n`).join('')))
    socket.setTimeout(replyTimeoutMs, () => socket.destroy(new Error(`no answer to ${line}`)))
    socket.once('error', reject)
    let reply = ''
    socket.on('data', (piece: Buffer) => {
      reply += piece.toString()
      const answer = reply.slice(password === undefined ? 0 : accepted.length)
      if (!isWhole(answer)) return
      socket.destroy()
      resolve(answer)
    })
  })

/** Whether a reply of one line, or of one string, is complete. */
function isWhole(reply: string): boolean {
  if (!reply.endsWith('\r\n')) return false
  const length = /^\$(\d+)\r\n/.exec(reply)
  return length === null || reply.length >= length[0].length + Number(length[1]) + 2
}
