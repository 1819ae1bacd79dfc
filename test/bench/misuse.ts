/**
 * Measures how misuse affects other clients: a real `fxd all` with its demo feeds, and an attacker and a victim in
 * separate processes. Each attack gets a new server process. Runs with and without it alternate, so that other load of
 * the machine affects both. Requires the process figures of Linux.
 * Run: bin/node test/bench/misuse.ts [short | attack …]; all attacks in three pairs, or in `short` some in one
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { registryClient } from '../../services/wire/unary-client.ts'
import type { AttackOrder } from './misuse/attacker.ts'
import { attacks, missOf } from './misuse/attacks.ts'
import { endAttacker, measure, startAttacker, startVictim } from './misuse/measure.ts'
import {
  failuresOf,
  head,
  isBusy,
  type Measured,
  type Pair,
  row,
  type Turn,
  unmet,
  wordsRow,
} from './misuse/verdict.ts'
import { ServerLost, type ServerState, WatchedServer } from './misuse/watched-server.ts'
import { issueBenchKey, keyOf } from './support/bench-feed.ts'
import { count, machine, printTable, seconds } from './support/figures.ts'
import { seeded } from './support/seeding.ts'

const isShort = process.argv[2] === 'short'
const named = isShort ? [] : process.argv.slice(2)
const strange = named.find((name) => !attacks.has(name))
if (strange !== undefined) {
  console.error(`${strange} is no attack; there are ${[...attacks.keys()].join(', ')}, and short.`)
  process.exit(2)
}
const chosen = [...attacks]
  .filter(([name, attack]) => (isShort ? attack.isShort : named.length === 0 || named.includes(name)))
  .map(([name]) => name)

const pairsWanted = isShort ? 1 : 3
const runMs = isShort ? 5_000 : 8_000
const warmUpMs = 3_000
/** Delay between the last attack and the reading of what it left behind. */
const settleMs = isShort ? 3_000 : 6_000
const afterwardsMs = 4_000

const facts = machine()
const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))

interface Stage {
  readonly victimKey: string
  readonly symbols: readonly string[]
}

/** Issues new pro keys for all feeds, one for each attacked run. */
async function issueProKeys({ service: { target } }: WatchedServer, { symbols }: Stage): Promise<string[]> {
  const identity = { token: readFileSync(target.token, 'utf8').trim(), tls: undefined }
  const client = registryClient(target.grpc, identity)
  const feeds = [...new Set(symbols.map((symbol) => symbol.split(':').slice(0, 2).join(':')))]
  const request = { name: 'attacker', plan: 'pro', feeds }
  const keys: string[] = []
  try {
    while (keys.length < pairsWanted) keys.push((await client.call('CreateKey', request)).secret)
    return keys
  } finally {
    client.close()
  }
}

async function symbolsOf(server: WatchedServer): Promise<string[]> {
  const text = readFileSync(server.service.target.log, 'utf8')
  const firstKey = /fxd_[0-9a-f]{32}/.exec(text)?.[0]
  if (firstKey === undefined) throw new Error('the first start printed no key')
  const response = await fetch(`${server.service.target.url}/v1/symbols?limit=1000`, {
    headers: { 'X-API-Key': firstKey },
  })
  const { symbols } = (await response.json()) as { symbols: { symbol: string }[] }
  return symbols.map(({ symbol }) => symbol)
}

const shown = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, times]) => `${what} ${count(times)}`)
    .join(', ') || 'nothing'

async function attacked(
  server: WatchedServer,
  victim: ChildProcess,
  order: AttackOrder,
): Promise<Pick<Pair, 'attacked' | 'miss'>> {
  const attacker = await startAttacker(order)
  // The victim runs longer, until its last answers.
  const counts = pause(runMs).then(() => endAttacker(attacker))
  try {
    const run = await measure(server, victim, runMs, attacker)
    return { attacked: run, miss: missOf(order.name, await counts) }
  } finally {
    console.log(`  ${order.name}: ${shown(await counts)}`)
  }
}

async function pairsOf(
  server: WatchedServer,
  victim: ChildProcess,
  orders: readonly AttackOrder[],
): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const [i, order] of orders.entries()) {
    const pair: { -readonly [name in keyof Pair]?: Pair[name] } = {}
    const turns: readonly Turn[] = i % 2 === 0 ? ['quiet', 'attacked'] : ['attacked', 'quiet']
    for (const turn of turns) {
      if (turn === 'quiet') pair.quiet = await measure(server, victim, runMs)
      else Object.assign(pair, await attacked(server, victim, order))
      await server.calm()
    }
    pairs.push(pair as Pair)
  }
  return pairs
}

async function measureAttack(server: WatchedServer, stage: Stage, name: string): Promise<Measured> {
  const { url, ws, ops, grpc } = server.service.target
  const keys = await issueProKeys(server, stage)
  const target = { url, ws, ops, grpc }
  const orders = keys.map((key) => ({ name, target, key, symbols: stage.symbols, share: 1 }))
  const victim = await startVictim({ url, ws, key: stage.victimKey, symbol: keyOf('EURUSD') })
  try {
    await measure(server, victim, warmUpMs)
    const before: ServerState = await server.state()
    const pairs = await pairsOf(server, victim, orders)
    await pause(settleMs)
    const after = await server.state()
    return { pairs, before, after, afterwards: await measure(server, victim, afterwardsMs) }
  } finally {
    victim.kill('SIGKILL')
  }
}

/** Measures one attack against a new process. Returns its table row. */
async function rowOf(stage: Stage, name: string): Promise<string[]> {
  const server = await WatchedServer.start(home)
  try {
    const measured = await measureAttack(server, stage, name)
    const failures = failuresOf(measured.pairs.map((pair) => pair.attacked))
    if (Object.keys(failures).length > 0) console.log(`  the victim's failures: ${shown(failures)}`)
    if (unmet(measured).length === 0) met += 1
    if (isBusy(measured)) busy += 1
    return row(name, measured)
  } catch (cause) {
    const lost = server.hasEnded ? server.end() : cause
    if (lost instanceof ServerLost) return wordsRow(name, `not met: ${lost.message}`)
    // The other attacks can still be measured.
    process.exitCode = 1
    return wordsRow(name, `not measured: ${String(cause)}`)
  } finally {
    await server.stop()
  }
}

let [met, busy] = [0, 0]
try {
  const begun = performance.now()
  const first = await WatchedServer.start(home)
  const { bars } = await seeded(first.service)
  const stage = { victimKey: await issueBenchKey(first.service), symbols: await symbolsOf(first) }
  await first.stop()
  console.log(`${count(bars)} demo bars are stored after ${seconds(performance.now() - begun)}`)

  const rows: string[][] = []
  for (const name of chosen) {
    console.log(`${name}: ${attacks.get(name)?.what}`)
    const cells = await rowOf(stage, name)
    console.log(`  ${cells.slice(1).filter(Boolean).join(' · ')}`)
    rows.push(cells)
  }
  const load = loadavg().map((each) => each.toFixed(1))
  console.log(`\n${facts}; at the end ${load.join(' ')}`)
  console.log(
    `medians of ${pairsWanted} pairs of ${seconds(runMs)}; afterwards: ${seconds(settleMs)} after the last run`,
  )
  printTable(head, rows)
  if (busy > 0)
    console.log(
      `${busy} of ${rows.length} say little: without an attack the server already waited for a processor`,
    )
  console.log(`goals met by ${met} of ${rows.length} attacks, in ${seconds(performance.now() - begun)}`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
