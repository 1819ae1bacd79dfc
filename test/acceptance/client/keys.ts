import { WebSocket } from 'ws'
import { type Outcome, run } from './command.ts'
import { ask } from './http.ts'
import { type Pods, target } from './target.ts'
import { until } from './until.ts'

/** What `fxd keys` prints about a key. */
export interface KeyRecord {
  readonly id: string
  readonly prefix: string
  readonly plan: string
}
export interface IssuedKey extends KeyRecord {
  readonly key: string
}

export interface Wanted {
  readonly plan?: string
  readonly feeds?: readonly string[]
  readonly rpm?: number
  readonly rpd?: number
  readonly wsConnections?: number
  readonly wsSymbols?: number
  readonly allowIp?: readonly string[]
  readonly expires?: string
  readonly name?: string
}

const flags = (wanted: Wanted): string[] => {
  const given: [string, string | number | undefined][] = [
    ['--plan', wanted.plan],
    ['--feeds', wanted.feeds?.join(',')],
    ['--rpm', wanted.rpm],
    ['--rpd', wanted.rpd],
    ['--ws-connections', wanted.wsConnections],
    ['--ws-symbols', wanted.wsSymbols],
    ['--allow-ip', wanted.allowIp?.join(',')],
    ['--expires', wanted.expires],
    ['--name', wanted.name],
  ]
  return given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]))
}

/** Runs `fxd keys …`; resolves whatever its exit code. */
export const keysCommand = (
  verb: string,
  args: readonly string[] = [],
  wanted: Wanted = {},
): Promise<Outcome> => run(target().issuer, [verb, ...args, ...flags(wanted)])

const succeed = async <T>(verb: string, args: readonly string[], wanted: Wanted = {}): Promise<T> => {
  const outcome = await keysCommand(verb, [...args, '--json'], wanted)
  if (outcome.code !== 0) throw new Error(`keys ${verb} failed (${outcome.code}): ${outcome.stderr}`)
  return JSON.parse(outcome.stdout) as T
}

/** High limits, so that only tests about limits reach one. */
const highLimits = {
  plan: 'enterprise',
  rpm: 100_000,
  rpd: 1_000_000,
  wsConnections: 100,
  wsSymbols: 500,
} as const

export const everyFeed = [
  'BROKERA:ZERO',
  'BROKERB:LIVE',
  'BROKERC:TADIL',
  'BROKERC:NOTADIL',
  'BROKERD:LIVE',
  'BROKERE:LIVE',
  'BROKERF:LIVE',
  'BROKERG:SIM',
] as const

/** No key of the suite is granted this feed, nor BROKERA:VIP. */
export const ungrantedFeed = 'BROKERA:PRIME'

const create = (wanted: Wanted): Promise<IssuedKey> =>
  succeed('create', [], {
    ...(wanted.plan === undefined ? highLimits : {}),
    feeds: wanted.feeds ?? everyFeed,
    ...wanted,
  })

const isUpgraded = (base: string, key: string): Promise<boolean> =>
  new Promise((resolve) => {
    const url = `${base.replace('http', 'ws')}/v1/stream?api_key=${key}`
    const raw = new WebSocket(url, { handshakeTimeout: 5_000 })
    raw.once('open', () => {
      raw.terminate()
      resolve(true)
    })
    raw.on('error', () => resolve(false))
  })

/**
 * Resolves once all pods know the keys that were issued before. Pods learn of keys in the order of the registry, so this waits
 * for a later key. The limits and the usage of the others stay untouched.
 */
export async function untilPodsKnow({ rest, stream }: Pods): Promise<void> {
  const { key } = await create({})
  await Promise.all([
    ...rest.map((base) =>
      until(`${base} to know the key`, async () => (await ask('/v1/status', { key, base })).status === 200),
    ),
    ...stream.map((base) => until(`${base} to know the key`, () => isUpgraded(base, key))),
  ])
}

export async function issueKey(wanted: Wanted = {}): Promise<IssuedKey> {
  const issued = await create(wanted)
  const { pods } = target()
  if (pods) await untilPodsKnow(pods)
  return issued
}

export const updateKey = (id: string, wanted: Wanted) => succeed<KeyRecord>('update', [id], wanted)
export const revokeKey = (id: string) => succeed<KeyRecord>('revoke', [id])
export const showKey = (id: string) => succeed<Record<string, unknown>>('show', [id])
export const listKeys = () => succeed<readonly Record<string, unknown>[]>('list', [])
export const rotateKey = (id: string, overlap?: string) =>
  succeed<IssuedKey>('rotate', overlap === undefined ? [id] : [id, '--overlap', overlap])
