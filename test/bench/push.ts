/**
 * Measures the time from a collector's send of a whole minute to the last byte at the last client. It uses a real
 * `fxd all`, a collector's session in this process, and clients (support/fan-out-client.ts) in a separate process, each with
 * 200 of the feed's 500 symbols. As with every `Push` collector, bars are pushed after their commit.
 * Run: bin/node test/bench/push.ts [minutes = 30 [sockets …]]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SessionClient } from '../../services/collector/connection/session-client.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { type RunningService, startService } from '../support/processes/service-process.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { digits, feed, issueBenchKey, keyOf, makeBenchHome, residentMb } from './support/bench-feed.ts'
import type { BurstReport, ClientOrder } from './support/fan-out-client.ts'
import { machine, ms, printTable, quantile } from './support/figures.ts'
import { barMessageBytes, encodeMinute } from './support/whole-minute.ts'

const [minutes = 30, ...given] = process.argv.slice(2).map(Number)
const socketCounts = given.length > 0 ? given : [1, 500, 1_000]
const facts = machine()
const warmUps = 5
const perSocket = 200
const names = Array.from({ length: 500 }, (_, n) => `T${String(n).padStart(4, '0')}_CFD.US`)
/** Timeout of a burst; a missing bar ends the bench. */
const burstDeadlineMs = 30_000

const messageBytes = barMessageBytes(names[0] ?? '')

async function collect({ target }: RunningService): Promise<SessionClient> {
  const session = new SessionClient({
    address: target.grpc,
    identity: { token: readFileSync(target.token, 'utf8').trim() },
    hello: { feed, collectorId: 'bench', mode: 'SESSION_MODE_LIVE', terminal: 'bench', capabilities: [] },
    clock: systemClock,
  })
  await session.greeting
  const symbols = names.map((raw) => ({ raw, type: 'cfd', digits, session: '24x7' }))
  const { refused } = await session.catalogue(symbols, { snapshot: true })
  if (refused.length > 0) throw new Error(`the catalogue was refused: ${JSON.stringify(refused[0])}`)
  return session
}

async function startClients(order: ClientOrder): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./support/fan-out-client.ts', import.meta.url)))
  process.once('exit', () => child.kill())
  child.send(order)
  await once(child, 'message')
  return child
}

interface Burst {
  readonly lastMs: number
  readonly halfMs: number
  readonly ackMs: number
}

/** Sends one minute of every symbol. Resolves once all clients have it and it is acknowledged. */
async function burst(session: SessionClient, clients: ChildProcess, minute: number): Promise<Burst> {
  const series = encodeMinute(names, minute)
  const signal = AbortSignal.timeout(burstDeadlineMs)
  const arrived = once(clients, 'message', { signal }) as Promise<[BurstReport]>
  const sent = monotonicMs()
  const acked = session.bars('LIVE', series).then(({ accepted, refused }) => {
    if (accepted !== names.length) throw new Error(`${accepted} accepted: ${JSON.stringify(refused[0])}`)
    return monotonicMs()
  })
  const [[report], ackedAt] = await Promise.all([arrived, acked])
  // Idle, as between minutes.
  await systemClock.sleep(100)
  return { lastMs: report.last - sent, halfMs: report.p50 - sent, ackMs: ackedAt - sent }
}

const { home, discard } = makeBenchHome([])
try {
  const service = await startService(home)
  process.once('exit', () => service.process.kill())
  const path = `/v1/stream?api_key=${await issueBenchKey(service)}`
  const port = Number(new URL(service.target.url).port)
  const session = await collect(service)
  // Only closed minutes in ascending order are pushed, so the last one is the previous minute.
  const bursts = socketCounts.length * (warmUps + minutes)
  let minute = (Math.floor(systemClock.utcMs() / 60_000) - 1 - bursts) * 60
  const rows: string[][] = []
  for (const sockets of socketCounts) {
    const clients = await startClients({
      port,
      path,
      sockets,
      perSocket,
      symbols: names.map(keyOf),
      messageBytes,
    })
    const all: Burst[] = []
    for (let i = 0; i < warmUps + minutes; i++) {
      const measured = await burst(session, clients, (minute += 60))
      if (i >= warmUps) all.push(measured)
    }
    const of = (field: keyof Burst, q: number): string =>
      ms(
        quantile(
          all.map((each) => each[field]),
          q,
        ),
      )
    rows.push([
      `${sockets} × ${perSocket}`,
      of('lastMs', 0.5),
      of('lastMs', 0.99),
      of('lastMs', 1),
      of('lastMs', 0),
      of('halfMs', 0.5),
      of('ackMs', 0.5),
      `${Math.round(await residentMb(service))} MiB`,
      sockets === 500 ? '≤ 100 ms' : '',
    ])
    clients.kill()
    await once(clients, 'exit')
  }
  console.log(`${facts}; ${minutes} minutes of ${names.length} symbols each, ${messageBytes} bytes a frame`)
  const times = ['last byte p50', 'p99', 'max', 'min', 'half of all', 'acked', 'resident']
  printTable(['sockets × symbols', ...times, 'goal (last byte)'], rows)
  await session.close()
  await service.stop()
} finally {
  discard()
}
