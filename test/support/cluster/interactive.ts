import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readManifests } from '../../../services/registry/manifests.ts'
import { demoFeeds } from '../../../services/roles/feeds.ts'
import { newKey } from '../clients/new-key.ts'
import { isFree } from '../free-ports.ts'
import { type Cluster, questdbOfCluster, startCluster } from './cluster.ts'
import { supervise } from './supervise.ts'
import { untilUpgraded } from './until-upgraded.ts'

const home = mkdtempSync(join(tmpdir(), 'fxd-cluster-'))
const httpPort = Number(process.env['PORT'] ?? 8080)
const feeds = process.env['FXD_FEEDS'] || demoFeeds

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const fail = (cause: Error): never => {
  process.stderr.write(`${cause.message}\n`)
  rmSync(home, { recursive: true, force: true })
  process.exit(1)
}

/** Resolves when the user ends the cluster, which may be during the start. */
const stopRequested = new Promise<void>((resolve) => {
  process.on('SIGTERM', () => resolve())
  process.stdin.on('close', () => resolve()).resume()
})

/** Makes a key for all feeds; resolves once the shards accept upgrades. */
async function firstKey(cluster: Cluster): Promise<string> {
  const key = await newKey(cluster.commandEnv, `--plan pro --feeds ${feedKeys.join(',')}`)
  await untilUpgraded(cluster.httpPort, key)
  return key
}

function greeting(cluster: Cluster, key: string): string {
  const { httpPort: http, grpcPort, token, pods, questdb, redis, balancer } = cluster
  const at = `127.0.0.1:${http}`
  const example =
    feeds === demoFeeds ? 'history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=5' : 'symbols'
  return [
    'The cluster is ready; a process that ends is restarted, and Ctrl-C ends all of them.',
    '',
    `  REST and WebSocket, through HAProxy     http://${at}/`,
    `  collectors and the command line (gRPC)  127.0.0.1:${grpcPort}`,
    `  administration token of these           ${token}`,
    `  QuestDB                                 http://127.0.0.1:${questdb.http.port}/ and Postgres 127.0.0.1:${questdb.pg.port}`,
    `  Redis                                   ${redis.url}`,
    `  logs and data, removed at the end       ${home}`,
    '',
    ...[questdb, redis, balancer].map(({ name, pid }) => `  ${name.padEnd(25)} process ${pid}`),
    ...pods.map(({ name, opsPort, program }) => {
      const pid = `process ${program.pid}`
      return `  ${name.padEnd(25)} ${pid.padEnd(15)} http://127.0.0.1:${opsPort}/metrics`
    }),
    '',
    `A key for ${feeds === demoFeeds ? 'the demo feeds' : feedKeys.join(', ')}: ${key}`,
    '',
    `  curl -H 'X-API-Key: ${key}' 'http://${at}/v1/${example}'`,
    '',
  ].join('\n')
}

const { definitions } = await readManifests(feeds).catch(fail)
if (!(await isFree(httpPort).catch(fail)))
  fail(
    new Error(
      `127.0.0.1:${httpPort} is in use by another program or may not be used; set PORT to a free port.`,
    ),
  )
const feedKeys = definitions.map(({ key }) => key)
print(
  'Starting QuestDB, Redis, 1 ingest, 2 rest, 2 stream, a collector per feed that has a source, and HAProxy…',
)
const starting = startCluster({
  rest: 2,
  stream: 2,
  ingest: 1,
  feeds,
  home,
  httpPort,
  questdb: questdbOfCluster,
})
const greeted = starting.then(async (cluster) => greeting(cluster, await firstKey(cluster)))
const giveUp = async (cause: Error): Promise<never> => {
  process.stderr.write(`${cause.message}\nThe logs are in ${home}.\n`)
  await starting.then((cluster) => cluster.stop()).catch(() => undefined)
  process.exit(1)
}
const text = await Promise.race([greeted, stopRequested]).catch(giveUp)
if (!text) print('The cluster ends once everything has started.')
const cluster = await starting.catch(giveUp)
const ending = new AbortController()
const supervised = supervise(
  [cluster.questdb, cluster.redis, cluster.balancer, ...cluster.pods.map(({ program }) => program)],
  { say: print, signal: ending.signal },
)
if (text) {
  print(text)
  await stopRequested
}
ending.abort()
const failed = await cluster.stop()
await supervised
for (const each of failed) print(each)
rmSync(home, { recursive: true, force: true })
process.exit(failed.length === 0 ? 0 : 1)
