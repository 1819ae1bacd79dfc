/**
 * Measures one rest pod of a cluster: requests for the newest 300 bars of symbols at random, over kept connections. The
 * clients run in this process, on the same processors.
 * Run: bin/node test/bench/rest-pod.ts [seconds of each = 10]
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { SessionClient } from '../../services/collector/connection/session-client.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { encodeSeriesBars } from '../../services/wire/encode-bars.ts'
import { cpuMs } from './minute/cpu-time.ts'
import { type Subject, startProcesses } from './minute/subjects.ts'
import { digits, feed, issueBenchKey, keyOf, makeBenchHome, walkMinutes } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile } from './support/figures.ts'

const [secondsOfEach = 10] = process.argv.slice(2).map(Number)
const facts = machine()
const names = Array.from({ length: 200 }, (_, i) => `SYM${i}`)
const wanted = 300
const minutes = 2_000
const connections = [1, 8] as const
const batchesAtOnce = 8

/** Stores the same minutes of every symbol through a collector's session. */
async function store({ grpc, token }: Subject): Promise<void> {
  const session = new SessionClient({
    address: grpc,
    identity: { token: readFileSync(token, 'utf8').trim() },
    hello: { feed, collectorId: 'bench', mode: 'SESSION_MODE_LIVE', terminal: 'bench' },
    clock: systemClock,
  })
  await session.greeting
  await session.catalogue([], { snapshot: false })
  const bars = walkMinutes(minutes)
  const waiting = names.values()
  const send = async (): Promise<void> => {
    for (const symbol of waiting) {
      const series = encodeSeriesBars({ symbol, resolution: '1', scale: digits }, bars)
      const { accepted, refused } = await session.bars('BACKFILL', [series])
      if (accepted !== minutes) throw new Error(`${accepted} accepted: ${JSON.stringify(refused[0])}`)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, send))
  await session.close()
}

interface Load {
  readonly subject: Subject
  readonly key: string
}

/** Resolves with the milliseconds of one request. */
function ask({ subject, key }: Load, agent: http.Agent, symbol: string): Promise<number> {
  const path = `/v1/history?symbol=${keyOf(symbol)}&resolution=1&countback=${wanted}`
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const options = { port: subject.readers['rest-1'], path, agent, headers: { 'X-API-Key': key } }
    const request = http.get(options, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(performance.now() - begun)
        else reject(new Error(`${response.statusCode}: ${body}`))
      }, reject)
    })
    request.on('error', reject)
  })
}

async function measure(load: Load, clients: number): Promise<string[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients })
  const used = (name: string): number => cpuMs(load.subject.pids()[name] ?? 0)
  const took: number[] = []
  const client = async (): Promise<void> => {
    const end = performance.now() + secondsOfEach * 1_000
    while (performance.now() < end)
      took.push(await ask(load, agent, names[Math.floor(Math.random() * names.length)] ?? ''))
  }
  await ask(load, agent, names[0] ?? '')
  const before = [used('rest-1'), used('questdb')]
  await Promise.all(Array.from({ length: clients }, client))
  const cpu = [used('rest-1'), used('questdb')].map((at, i) => (at - (before[i] ?? 0)) / took.length)
  agent.destroy()
  return [
    String(clients),
    `${count(took.length / secondsOfEach)} /s`,
    ms(quantile(took, 0.5)),
    ms(quantile(took, 0.95)),
    ...cpu.map((each) => ms(each)),
  ]
}

const { home, discard } = makeBenchHome(names)
let subject: Subject | undefined
try {
  subject = await startProcesses(home, false)
  const key = await issueBenchKey({ target: subject })
  await store(subject)
  const load = { subject, key }
  await measure(load, connections.length)
  const rows: string[][] = []
  for (const clients of connections) rows.push(await measure(load, clients))
  console.log(`${facts}; the newest ${wanted} of ${minutes} minutes of ${names.length} symbols`)
  printTable(
    ['connections', 'requests', 'p50', 'p95', 'CPU of rest-1 for each', 'CPU of QuestDB for each'],
    rows,
  )
} finally {
  await subject?.stop()
  discard()
}
