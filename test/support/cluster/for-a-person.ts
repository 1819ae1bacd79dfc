import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readManifests } from '../../../services/platform/manifests.ts'
import { demoFeeds } from '../../../services/roles/feeds.ts'
import { newKey } from '../new-key.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { untilUpgraded } from './until-upgraded.ts'

const home = mkdtempSync(join(tmpdir(), 'fxd-cluster-'))
const httpPort = Number(process.env['PORT'] ?? 8080)

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** May come at any time, also while the parts are still starting. */
const asksToEnd = new Promise<void>((resolve) => {
  process.on('SIGTERM', () => resolve())
  process.stdin.on('close', () => resolve()).resume()
})

/** That opens everything at once: sockets, too, are let in. */
async function firstKey(cluster: Cluster): Promise<string> {
  const feeds = (await readManifests(demoFeeds)).definitions.map(({ key }) => key).join(',')
  const key = await newKey(cluster.commandEnv, `--plan pro --feeds ${feeds}`)
  await untilUpgraded(cluster.httpPort, key)
  return key
}

function greeting({ httpPort: http, grpcPort, pods, questdb, redis }: Cluster, key: string): string {
  const at = `127.0.0.1:${http}`
  return [
    'The cluster is ready; Ctrl-C ends all of it.',
    '',
    `  REST and WebSocket, through HAProxy     http://${at}/`,
    `  collectors and the command line (gRPC)  127.0.0.1:${grpcPort}`,
    `  QuestDB                                 http://127.0.0.1:${questdb.http.port}/`,
    `  Redis                                   ${redis.url}`,
    `  logs and data, removed at the end       ${home}`,
    '',
    ...pods.map(({ name, opsPort, program }) => {
      const pid = `process ${program.pid}`
      return `  ${name.padEnd(25)} ${pid.padEnd(15)} http://127.0.0.1:${opsPort}/metrics`
    }),
    '',
    `A key for the demo feeds: ${key}`,
    '',
    `  curl -H 'X-API-Key: ${key}' 'http://${at}/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=5'`,
    '',
  ].join('\n')
}

say('Starting QuestDB, Redis, 1 ingest, 2 rest, 2 stream, a collector per demo feed and HAProxy…')
const starting = startCluster({
  rest: 2,
  stream: 2,
  ingest: 1,
  feeds: demoFeeds,
  home,
  httpPort,
  questdbSettings: { QDB_CAIRO_COMMIT_MODE: 'sync' },
})
const greeted = starting.then(async (cluster) => greeting(cluster, await firstKey(cluster)))
const words = await Promise.race([greeted, asksToEnd]).catch(async (cause: Error) => {
  process.stderr.write(`${cause.message}\nThe logs are in ${home}.\n`)
  await starting.then((cluster) => cluster.stop()).catch(() => undefined)
  process.exit(1)
})
if (words) {
  say(words)
  await asksToEnd
}
say('Ending…')
const failed = await (await starting).stop()
for (const each of failed) say(each)
rmSync(home, { recursive: true, force: true })
process.exit(failed.length === 0 ? 0 : 1)
