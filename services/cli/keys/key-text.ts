import type { Key__Output } from '../../wire/gen/fxd/v1/Key.ts'
import type { KeyUse__Output } from '../../wire/gen/fxd/v1/KeyUse.ts'
import { fields, table } from '../table.ts'
import { instantText } from '../time-text.ts'

const instant = (ms: number | undefined): string | null => (ms === undefined ? null : instantText(ms))

/** A key as JSON, with the field names of the API; `key`, the secret, only when it was just issued. */
export const keyJson = (key: Key__Output, secret?: string) => ({
  id: key.id,
  ...(secret !== undefined && { key: secret }),
  name: key.name,
  prefix: key.prefix,
  plan: key.plan,
  limits: {
    rpm: key.limits?.rpm,
    rpd: key.limits?.rpd,
    ws_connections: key.limits?.wsConnections,
    ws_symbols: key.limits?.wsSymbols,
  },
  feeds: key.feeds,
  allow_ips: key.allowIps,
  expires_at: instant(key.expiresAt),
  state: key.state,
  created_at: instant(key.createdAt),
  old_secret_until: instant(key.oldSecretUntil),
  version: key.version,
})

export const keyFields = (key: Key__Output, secret?: string): string =>
  fields([
    ['id', key.id],
    ...(secret === undefined ? [] : [['key', secret] as const]),
    ['name', key.name],
    ['prefix', key.prefix],
    ['plan', key.plan],
    ['rpm', String(key.limits?.rpm)],
    ['rpd', String(key.limits?.rpd)],
    ['ws-connections', String(key.limits?.wsConnections)],
    ['ws-symbols', String(key.limits?.wsSymbols)],
    ['feeds', key.feeds.join(', ')],
    ['allow-ip', key.allowIps.join(', ') || 'any'],
    ['expires', instant(key.expiresAt) ?? 'never'],
    ['state', key.state],
    ['created', instant(key.createdAt) ?? ''],
    ...(key.oldSecretUntil === undefined
      ? []
      : [['old secret until', instant(key.oldSecretUntil) ?? ''] as const]),
  ])

export const keysTable = (keys: readonly Key__Output[]): string =>
  table(
    ['ID', 'PREFIX', 'PLAN', 'STATE', 'EXPIRES', 'NAME', 'FEEDS'],
    keys.map((key) => [
      key.id,
      key.prefix,
      key.plan,
      key.state,
      instant(key.expiresAt) ?? 'never',
      key.name || '-',
      key.feeds.join(','),
    ]),
  )

export const useJson = (use: KeyUse__Output) => ({
  id: use.id,
  prefix: use.prefix,
  name: use.name,
  plan: use.plan,
  requests: use.requests,
  rate_limited: use.rateLimited,
  sockets: use.sockets,
  ws_connections: use.socketsMax,
})

export const usesTable = (uses: readonly KeyUse__Output[]): string =>
  table(
    ['ID', 'PREFIX', 'PLAN', 'REQUESTS', 'RATE LIMITED', 'SOCKETS', 'NAME'],
    uses.map((use) => [
      use.id,
      use.prefix,
      use.plan,
      String(use.requests),
      String(use.rateLimited),
      `${use.sockets} of ${use.socketsMax}`,
      use.name || '-',
    ]),
  )
