/**
 * Measures the latency of whole requests, from the first byte sent to the last byte read, over one kept connection.
 * Our service and a simple handler (history-usual.ts) alternate, with the same data.
 * Run: bin/node test/bench/history.ts [requests of each = 200]
 */
import { deepEqual, equal } from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startService } from '../support/processes/service-process.ts'
import {
  issueBenchKey,
  keyOf,
  makeBenchHome,
  residentMb,
  storeMinutes,
  walkMinutes,
} from './support/bench-feed.ts'
import { machine, ms, printTable, quantile } from './support/figures.ts'
import { answer, closeConnections, get, type Request } from './support/whole-request.ts'

const facts = machine()
const requests = Number(process.argv[2] ?? 200)
const warmUps = 20
const wanted = 10_000
/** Minutes for 10,000 bars of 30, the incomplete bar before them, and a few more. */
const minutes = (wanted + 4) * 30
const symbol = 'EURUSD'

interface Case extends Request {
  readonly what: string
  readonly goal: string
}

async function startUsual(folder: string): Promise<{ child: ChildProcess; port: number }> {
  const file = fileURLToPath(new URL('./support/history-usual.ts', import.meta.url))
  const child = fork(file, [folder, keyOf(symbol), String(minutes)])
  process.once('exit', () => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}

const { home, discard } = makeBenchHome([symbol])
try {
  await storeMinutes(home, [symbol], walkMinutes(minutes))
  const service = await startService(home)
  process.once('exit', () => service.process.kill())
  const headers = { 'x-api-key': await issueBenchKey(service) }
  const usual = await startUsual(home)
  const history = (resolution: string, countback: number): string =>
    `/v1/history?symbol=${keyOf(symbol)}&resolution=${resolution}&countback=${countback}`
  const { url } = service.target
  const ours: Case = {
    what: '10,000 bars of 1',
    goal: '≤ 15 ms',
    url: url + history('1', wanted),
    headers,
  }
  const theirs: Case = {
    what: '10,000 bars of 1, usual handler',
    goal: '',
    url: `http://127.0.0.1:${usual.port}${history('1', wanted)}`,
    headers: {},
  }
  const folded: Case = {
    what: '10,000 bars of 30, folded from 1',
    goal: '',
    url: url + history('30', wanted),
    headers,
  }
  const cases: readonly Case[] = [
    ours,
    theirs,
    folded,
    { what: '300 bars of 1', goal: '', url: url + history('1', 300), headers },
    { what: 'config, a small answer', goal: '', url: `${url}/v1/config`, headers: {} },
  ]

  deepEqual(await answer(ours), await answer(theirs))
  equal((await answer(folded)).t.length, wanted)

  const times = new Map(cases.map((each) => [each, [] as number[]]))
  const measure = async (inTurn: readonly Case[]): Promise<void> => {
    for (let i = 0; i < warmUps + requests; i++) {
      for (const each of inTurn) {
        const begun = performance.now()
        await get(each)
        if (i >= warmUps) times.get(each)?.push(performance.now() - begun)
      }
    }
  }
  // Folding reads thirty times as much, so it is measured separately: its garbage must not affect the others.
  await measure(cases.filter((each) => each !== folded))
  await measure([folded])

  console.log(`${facts}; ${requests} requests of each, in turn`)
  printTable(
    ['whole request', 'median', 'p95', 'min', 'goal (median)'],
    cases.map((each) => {
      const all = times.get(each) ?? []
      return [each.what, ms(quantile(all, 0.5)), ms(quantile(all, 0.95)), ms(quantile(all, 0)), each.goal]
    }),
  )
  console.log(`resident memory of the service afterwards: ${Math.round(await residentMb(service))} MiB`)
  closeConnections()
  usual.child.kill()
  await service.stop()
} finally {
  discard()
}
