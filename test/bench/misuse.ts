/**
 * Measures how misuse affects other clients: a real `fxd all` with its demo feeds, on the embedded store or on a real
 * QuestDB, and an attacker and a victim in separate processes. Each attack gets a new server process. Runs with and without it alternate, so that other load of
 * the machine affects both. Requires the process figures of Linux.
 * Run: bin/node test/bench/misuse.ts [short] [attack …]; all attacks in three pairs, or with `short` some in one
 */
import type { ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readManifests } from '../../services/registry/manifests.ts'
import { demoFeeds } from '../../services/roles/feeds.ts'
import { registryClient } from '../../services/wire/unary-client.ts'
import { type QuestdbServer, startQuestdb } from '../support/questdb/server.ts'
import { feedManifest } from '../support/samples/feed-manifest.ts'
import { Tally } from './misuse/attack.ts'
import type { AttackOrder } from './misuse/attacker.ts'
import { attacks, missOf } from './misuse/attacks.ts'
import { attackersFeed, attackersSymbols, storeOneDay } from './misuse/collectors.ts'
import { endAttacker, measure, startAttacker, startVictim } from './misuse/measure.ts'
import { addTerminalFeed } from './misuse/terminals.ts'
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
import { ServerLost, type ServerState, type Store, WatchedServer } from './misuse/watched-server.ts'
import { issueBenchKey, keyOf } from './support/bench-feed.ts'
import { count, machine, printTable, seconds } from './support/figures.ts'
import { seeded } from './support/seeding.ts'

const isShort = process.argv[2] === 'short'
const named = process.argv.slice(isShort ? 3 : 2)
const strange = named.find((name) => !attacks.has(name))
if (strange !== undefined) {
  console.error(`${strange} is no attack; there are ${[...attacks.keys()].join(', ')}, and short.`)
  process.exit(2)
}
const chosen = [...attacks]
  .filter(([name, attack]) => (named.length > 0 ? named.includes(name) : attack.isShort === true || !isShort))
  .map(([name]) => name)

const pairsWanted = isShort ? 1 : 3
const runMs = isShort ? 5_000 : 8_000
const warmUpMs = 3_000
/** Delay between the last attack and the reading of what it left behind. */
const settleMs = isShort ? 3_000 : 6_000
const afterwardsMs = 4_000

/** Keys of one attack with several keys. */
const keysPerRun = 6

const facts = machine()
const homes: string[] = []

interface Stage {
  readonly home: string
  readonly store: Store
  readonly victimKey: string
  readonly symbols: readonly string[]
}

function registryOf({ service: { target } }: WatchedServer) {
  const identity = { token: readFileSync(target.token, 'utf8').trim(), tls: undefined }
  return registryClient(target.grpc, identity)
}

/** Issues new pro keys for these feeds. */
async function issueProKeys(
  server: WatchedServer,
  feeds: readonly string[],
  wanted: number,
): Promise<string[]> {
  const client = registryOf(server)
  const request = { name: 'attacker', plan: 'pro', feeds: [...feeds] }
  const keys: string[] = []
  try {
    while (keys.length < wanted) keys.push((await client.call('CreateKey', request)).secret)
    return keys
  } finally {
    client.close()
  }
}

async function issueCollectorToken(server: WatchedServer): Promise<string> {
  const client = registryOf(server)
  try {
    return (await client.call('IssueFeedToken', { feeds: [attackersFeed.key], expires: '1d' })).token
  } finally {
    client.close()
  }
}

const demoKeys = (await readManifests(demoFeeds)).definitions.map(({ key }) => key)

/** Symbols of the demo feeds. */
async function symbolsOf(server: WatchedServer): Promise<string[]> {
  const [key = ''] = await issueProKeys(server, demoKeys, 1)
  const url = `${server.service.target.url}/v1/symbols?limit=1000`
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  const { symbols } = (await response.json()) as { symbols: { symbol: string }[] }
  return symbols.map(({ symbol }) => symbol)
}

/** A folder whose feeds are those of the demo and the attackers' own. */
function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
  homes.push(home)
  cpSync(demoFeeds, join(home, 'feeds'), { recursive: true })
  const { broker, account } = attackersFeed
  const manifest = feedManifest({ broker, account, resolutions: ['1', '30', '60'] })
  writeFileSync(join(home, 'feeds', 'attackers.yaml'), JSON.stringify(manifest))
  addTerminalFeed(home)
  return home
}

/** Starts the service once, until the demo feeds and the attackers' symbols have their bars. */
async function prepareStage(store: Store): Promise<Stage> {
  const home = makeHome()
  const server = await WatchedServer.start(home, store)
  const begun = performance.now()
  const { bars } = await seeded(server.service)
  const collectorToken = await issueCollectorToken(server)
  const tally = new Tally()
  await storeOneDay({ target: server.service.target, collectorToken }, tally)
  if (tally.counts['acks'] !== attackersSymbols.length)
    throw new Error(`the attackers' bars were not stored: ${shown(tally.counts)}`)
  const victimKey = await issueBenchKey(server.service)
  const stage = { home, store, victimKey, symbols: await symbolsOf(server) }
  await server.stop()
  console.log(`${store}: ${count(bars)} demo bars are stored after ${seconds(performance.now() - begun)}`)
  return stage
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
  const target = { url, ws, ops, grpc, terminal: server.terminal }
  const keys = await issueProKeys(server, [...demoKeys, attackersFeed.key], pairsWanted * keysPerRun)
  const collectorToken = await issueCollectorToken(server)
  const orders = Array.from({ length: pairsWanted }, (_, pair) => {
    const [key = '', ...moreKeys] = keys.slice(pair * keysPerRun, (pair + 1) * keysPerRun)
    return { name, target, key, moreKeys, collectorToken, symbols: stage.symbols, share: 1 }
  })
  const terminal = name === 'terminals' ? server.terminal : undefined
  const victim = await startVictim({ url, ws, key: stage.victimKey, symbol: keyOf('EURUSD'), terminal })
  try {
    await measure(server, victim, warmUpMs)
    const before: ServerState = await server.state()
    const pairs = await pairsOf(server, victim, orders)
    await pause(settleMs)
    const after = await server.state()
    const afterwards = await measure(server, victim, afterwardsMs)
    return { pairs, before, after, afterwards, memoryMb: attacks.get(name)?.memoryMb }
  } finally {
    victim.kill('SIGKILL')
  }
}

/** Measures one attack against a new process. Returns its table row. */
async function rowOf(stage: Stage, name: string): Promise<string[]> {
  const server = await WatchedServer.start(stage.home, stage.store)
  try {
    const measured = await measureAttack(server, stage, name)
    const failures = failuresOf(measured.pairs.map((pair) => pair.attacked))
    if (Object.keys(failures).length > 0) console.log(`  the victim's failures: ${shown(failures)}`)
    if (questdbEnd !== undefined) return wordsRow(name, `not met: QuestDB ended with ${questdbEnd}`)
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

/** Starts a QuestDB for the attacks that need one; its end ends their measurement. */
async function startStore(): Promise<QuestdbServer> {
  const questdb = await startQuestdb()
  process.env['FXD_ACCEPTANCE_QUESTDB_HTTP'] = `${questdb.http.host}:${questdb.http.port}`
  process.env['FXD_ACCEPTANCE_QUESTDB_PG'] = `${questdb.pg.host}:${questdb.pg.port}`
  void questdb.ended.then((code) => {
    questdbEnd = code
  })
  return questdb
}

const storeOf = (name: string): Store => attacks.get(name)?.store ?? 'embedded'

let [met, busy] = [0, 0]
let questdbEnd: number | string | undefined
let questdb: QuestdbServer | undefined
try {
  const begun = performance.now()
  const rows: string[][] = []
  for (const store of ['embedded', 'questdb'] as const) {
    const names = chosen.filter((name) => storeOf(name) === store)
    if (names.length === 0) continue
    if (store === 'questdb') questdb = await startStore()
    const stage = await prepareStage(store)
    for (const name of names) {
      console.log(`${name}: ${attacks.get(name)?.what}`)
      const cells =
        questdbEnd === undefined ? await rowOf(stage, name) : wordsRow(name, `QuestDB ended: ${questdbEnd}`)
      console.log(`  ${cells.slice(1).filter(Boolean).join(' · ')}`)
      rows.push(cells)
    }
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
  await questdb?.stop()
  for (const home of homes) rmSync(home, { recursive: true, force: true })
}
