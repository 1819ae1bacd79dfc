import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporary-folder.ts'
import { type QuestdbServer, startQuestdb } from '../support/questdb/server.ts'
import { startRedis } from '../support/redis/server.ts'
import { openInTest } from '../support/redis/stores.ts'
import { podOfComponent } from './pods.ts'
import { chart, charts, find, objectsOf, part, render, type Texts } from './render.ts'

/** Runs the init container of Redis, which writes the digests of passwords into the list of users. */
function usersFile(values: object, passwords: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  const config = part<Texts>(find(render({ values }), 'ConfigMap', 'fxd-redis'), 'data')
  writeFileSync(join(folder, 'users.acl'), config['users.acl'] ?? '')
  const script = readFileSync(join(chart, 'files/redis-users.ts'), 'utf8')
    .replaceAll('/etc/redis/users.acl', join(folder, 'users.acl'))
    .replaceAll('/users/users.acl', join(folder, 'made.acl'))
  const run = (): void =>
    void execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      env: passwords,
    })
  run()
  // Kubernetes may run an init container again in the same pod. Its user cannot write into its own read-only file.
  const first = openSync(join(folder, 'made.acl'), 'r')
  run()
  expect(fstatSync(first).nlink).toBe(0)
  closeSync(first)
  return join(folder, 'made.acl')
}

test('Redis applies the list of users: roles use their keys, also with the previous password; others only ping', async () => {
  const aclfile = usersFile(
    { redis: { prefix: 'trial:', users: { rest: { user: 'reader' } } } },
    {
      PASSWORD_REST: 'new%2Fword',
      PREVIOUS_PASSWORD_REST: 'old',
      PASSWORD_STREAM: 's',
      PASSWORD_INGEST: 'i',
    },
  )
  const redis = await startRedis({ settings: [`aclfile ${aclfile}`] })
  onTestFinished(() => redis.stop())
  const at = `${redis.host}:${redis.port}`
  const opened = await openInTest({ url: `redis://reader:new%2Fword@${at}` }, { prefix: 'trial:' })
  await expect(opened.stores.limits.admit('k1', { rpm: 10, rpd: 100 }, 'status')).resolves.toBeDefined()
  expect(await redis.command('AUTH reader old')).toContain('+OK')
  expect(await redis.command('AUTH reader other')).toContain('WRONGPASS')
  expect(await redis.command('AUTH fxd-stream s')).toContain('+OK')
  expect(await redis.command('PING')).toContain('+PONG')
  expect(await redis.command('GET trial:pods')).toContain('NOPERM')
})

const podUser = 10_001
/** Only root can change to another user. */
const isRoot = process.getuid?.() === 0

const credentials = { user: 'fxd_writer', password: 'a "quoted" \\ word' }

test('QuestDB with the environment of the chart answers probes, and rejects statements without a password', async () => {
  const { env = [] } = podOfComponent(render({}), 'questdb').spec.containers[0] ?? {}
  const settings = Object.fromEntries(
    env.filter(({ name }) => name.startsWith('QDB_')).map(({ name, value }) => [name, value ?? 'a-password']),
  )
  expect(settings).toMatchObject({ QDB_HTTP_USER: 'fxd_writer', QDB_HTTP_PASSWORD: 'a-password' })
  const server = await startQuestdb({ settings, startsQuickly: true })
  onTestFinished(() => server.stop())
  const statusOf = async (port: number, path: string): Promise<number> =>
    (await fetch(`http://${server.http.host}:${port}${path}`)).status
  expect(await statusOf(server.ops.port, '/status')).toBe(200)
  expect(await statusOf(server.http.port, '/exec?query=select%201')).toBe(401)
})

test('the backup copies a running QuestDB, keeps the newest copies and can be restored', async () => {
  const settings = {
    QDB_PG_USER: credentials.user,
    QDB_PG_PASSWORD: credentials.password,
    QDB_HTTP_USER: credentials.user,
    QDB_HTTP_PASSWORD: credentials.password,
    QDB_CAIRO_COMMIT_MODE: 'sync',
  }
  const server = await startQuestdb({ settings, startsQuickly: true })
  onTestFinished(() => server.stop())
  await exec(
    server,
    "CREATE TABLE bars AS (SELECT x, timestamp_sequence('2026-01-05', 1000000) ts FROM long_sequence(5000)) TIMESTAMP(ts) PARTITION BY DAY WAL",
  )
  await expect.poll(() => exec(server, 'SELECT count() FROM bars')).toEqual([[5000]])
  const backups = join(temporaryFolder(), 'backups')
  mkdirSync(backups)
  for (const old of ['questdb-20250101T000000Z.tar', 'questdb-20250102T000000Z.tar', 'questdb-x.tar.partial'])
    closeSync(openSync(join(backups, old), 'w'))
  mkdirSync(join(server.folder, 'lost+found'))
  // The state that a killed backup leaves.
  await exec(server, 'CHECKPOINT CREATE')

  const { status, stderr } = backUp(server, backups)
  expect(stderr).toBe('')
  expect(status).toBe(0)
  const [lock, kept = '', newest = '', ...more] = readdirSync(backups).toSorted()
  expect(lock).toBe('.lock')
  expect(kept).toBe('questdb-20250102T000000Z.tar')
  expect(newest).toMatch(/^questdb-20[2-9]\d{5}T\d{6}Z\.tar$/)
  expect(more).toEqual([])
  // Succeeds because the checkpoint was released.
  await exec(server, 'CHECKPOINT CREATE')
  await exec(server, 'CHECKPOINT RELEASE')

  const folder = emptyVolume()
  const unpacked = unpack(folder, backups)
  expect(unpacked.stderr).toBe('')
  expect(unpacked.status).toBe(0)
  expect(readdirSync(folder)).toContain('_restore')
  // An existing database is not overwritten.
  expect(unpack(folder, backups).status).toBe(1)
  const restored = await startQuestdb({ settings, folder, startsQuickly: true })
  onTestFinished(() => restored.stop())
  await expect.poll(() => exec(restored, 'SELECT count() FROM bars')).toEqual([[5000]])
})

test('a backup fails while another one runs, and does not release its checkpoint', async () => {
  const server = await startQuestdb({ startsQuickly: true })
  onTestFinished(() => server.stop())
  const backups = temporaryFolder()
  await exec(server, 'CHECKPOINT CREATE')
  const other = spawn('flock', [join(backups, '.lock'), 'sh', '-c', 'echo locked; exec cat'])
  onTestFinished(() => void other.kill())
  await once(other.stdout, 'data')
  const { status, stderr } = backUp(server, backups)
  other.stdin.end()
  expect(status).toBe(1)
  expect(stderr).toBe('another backup is running\n')
  await expect(exec(server, 'CHECKPOINT CREATE')).rejects.toThrow('CHECKPOINT RELEASE')
  await exec(server, 'CHECKPOINT RELEASE')
})

/** A new ext4 volume in a pod with the fsGroup of QuestDB. Root owns the volume and its folder lost+found. */
function emptyVolume(): string {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const volume = join(folder, 'volume')
  mkdirSync(volume)
  if (isRoot) chownSync(volume, 0, podUser)
  chmodSync(volume, 0o2775)
  mkdirSync(join(volume, 'lost+found'), { mode: 0o770 })
  if (isRoot) chownSync(join(volume, 'lost+found'), 0, podUser)
  return volume
}

/** Runs the command of the restoring pod in docs/kubernetes.md, as its user. */
function unpack(data: string, backups: string): { readonly status: number | null; readonly stderr: string } {
  chmodSync(join(backups, '..'), 0o755)
  const text = readFileSync(join(charts, '../docs/kubernetes.md'), 'utf8')
  const [pod] = objectsOf(/<<'POD'\n(.*?)\n *POD\n/s.exec(text)?.[1] ?? '')
  if (pod === undefined) throw new Error('docs/kubernetes.md has no pod that restores')
  expect(part(pod, 'spec.securityContext')).toMatchObject({ runAsUser: podUser, fsGroup: podUser })
  const [shell = '', ...words] = part<readonly string[]>(pod, 'spec.containers.0.command')
  const args = words.map((word) =>
    word.replaceAll(/\/(data|backups)\b/g, (_, name) => (name === 'data' ? data : backups)),
  )
  return spawnSync(shell, args, {
    encoding: 'utf8',
    ...(isRoot && { uid: podUser, gid: podUser }),
    env: { PATH: process.env['PATH'] },
  })
}

test('a backup that cannot be written fails, keeps older ones and releases the checkpoint', async () => {
  const server = await startQuestdb({ startsQuickly: true })
  onTestFinished(() => server.stop())
  const backups = join(temporaryFolder(), 'nowhere')
  const { status, stderr } = backUp(server, backups)
  expect(status).not.toBe(0)
  expect(stderr).toContain('nowhere')
  await exec(server, 'CHECKPOINT CREATE')
})

/** Runs the script of the CronJob as its container does. */
function backUp(
  server: QuestdbServer,
  backups: string,
): { readonly status: number | null; readonly stderr: string } {
  const objects = render({ values: { questdb: { backup: { enabled: true, keep: 2 } } } })
  const { command = [], args = [], env = [] } = podOfComponent(objects, 'backup').spec.containers[0] ?? {}
  const [shell = '', ...flags] = command
  return spawnSync(shell, [...flags, ...args], {
    encoding: 'utf8',
    env: {
      ...Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
      PATH: process.env['PATH'],
      QUESTDB: `http://${server.http.host}:${server.http.port}`,
      QUESTDB_PASSWORD: credentials.password,
      DATA: server.folder,
      BACKUPS: backups,
    },
  })
}

async function exec({ http }: QuestdbServer, sql: string): Promise<unknown> {
  const answer = await fetch(`http://${http.host}:${http.port}/exec?query=${encodeURIComponent(sql)}`, {
    headers: { authorization: `Basic ${btoa(`${credentials.user}:${credentials.password}`)}` },
  })
  const body = (await answer.json()) as { readonly dataset?: unknown; readonly error?: string }
  if (!answer.ok) throw new Error(body.error)
  return body.dataset
}

test('no eviction ends QuestDB, unless its pod is not ready or the values allow it', () => {
  const specOf = (values: object): unknown =>
    part(find(render({ values }), 'PodDisruptionBudget', 'fxd-questdb'), 'spec')
  const labels = part(find(render(), 'StatefulSet', 'fxd-questdb'), 'spec.selector.matchLabels')
  const selector = { matchLabels: labels }
  expect(specOf({})).toEqual({ maxUnavailable: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector })
  expect(specOf({ questdb: { podDisruptionBudget: { maxUnavailable: 1 } } })).toMatchObject({
    maxUnavailable: 1,
  })
})
