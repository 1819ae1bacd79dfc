import type { handleUnaryCall } from '@grpc/grpc-js'
import { faultPlace } from '../../core/fault-place.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Leases } from '../../ports/lease.ts'
import type { StoreIdentity } from '../../ports/store-identity.ts'
import type { StoreTables } from '../../ports/store-tables.ts'
import { sameRecord } from '../../registry/feed-rows.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import type { CreateKeyRequest__Output } from '../../wire/gen/fxd/v1/CreateKeyRequest.ts'
import type { Key } from '../../wire/gen/fxd/v1/Key.ts'
import type { PutKeyRequest__Output } from '../../wire/gen/fxd/v1/PutKeyRequest.ts'
import type { RegistryHandlers } from '../../wire/gen/fxd/v1/Registry.ts'
import type { RevokeKeyRequest__Output } from '../../wire/gen/fxd/v1/RevokeKeyRequest.ts'
import type { RotateKeyRequest__Output } from '../../wire/gen/fxd/v1/RotateKeyRequest.ts'
import type { SuspendKeyRequest__Output } from '../../wire/gen/fxd/v1/SuspendKeyRequest.ts'
import type { UpdateKeyRequest__Output } from '../../wire/gen/fxd/v1/UpdateKeyRequest.ts'
import type { FeedTokens } from '../credentials/feed-tokens.ts'
import { backfill } from './backfill.ts'
import { clockHistory } from './clock.ts'
import { applyManifest, handOverFeeds, removeOwnFeed } from './feed-changes.ts'
import { issueFeedToken } from './feed-token.ts'
import { type FeedStores, getFeed, listFeeds, purgeFeed } from './feeds.ts'
import { health } from './health.ts'
import { createKey, newIssue, rotateKey, updateKey } from './keys.ts'
import { keyMessage, page } from './messages.ts'
import { putKey, suspendKey } from './put-key.ts'
import {
  changedMeanwhile,
  defect,
  failedPrecondition,
  notFound,
  RegistryRefusal,
  refusalOf,
} from './refusal.ts'
import { removeSymbol } from './symbols.ts'
import { acceptTables, refillTable } from './tables.ts'
import { acceptTerminal } from './terminal.ts'
import { type TopKeysDeps, topKeys } from './top-keys.ts'

/** Maximum keys: every pod keeps all keys in memory. */
const keysMax = 100_000

export interface RegistryServiceDeps extends FeedStores, TopKeysDeps {
  readonly writer: RegistryWriter
  readonly registry: FollowedRegistry
  readonly feedTokens: FeedTokens
  readonly leases: Leases
  readonly identity?: StoreIdentity
  readonly storeBegan?: () => Promise<void>
  /** `undefined`: the store is one file. */
  readonly tables?: StoreTables
  readonly log: Log
}

/** `fxd.v1.Registry`, the administration API of the command line and the operator. The server has checked the credential. */
export function registryService(deps: RegistryServiceDeps): RegistryHandlers {
  const { registry, clock, log } = deps
  const keys = keyChanges(deps)
  const view = (): RegistryView => registry.view()
  const answer = <Request, Response>(act: (request: Request) => Response | Promise<Response>) =>
    unary(act, log)

  return {
    CreateKey: answer(keys.create),
    ListKeys: answer(({ after }) => {
      const found = page(view().keys.all(), after, (key) => key.id)
      return { keys: found.items.map((key) => messageOf(key.id, view(), clock)), next: found.next }
    }),
    ListTopKeys: answer(async ({ limit }) => ({ keys: await topKeys(limit, view().keys.all(), deps) })),
    GetKey: answer(({ id }) => messageOf(id, view(), clock)),
    UpdateKey: answer(keys.update),
    RotateKey: answer(keys.rotate),
    RevokeKey: answer(keys.revoke),
    PutKey: answer(keys.put),
    SuspendKey: answer(keys.suspend),
    ListFeeds: answer(async (request) => ({
      ...(await listFeeds(request, view(), deps)),
      signingKeys: [...deps.feedTokens.keyIds],
      storeIdentity: deps.identity?.word ?? '',
    })),
    GetFeed: answer((request) => getFeed(request, view(), deps)),
    GetClock: answer((request) => clockHistory(request, view())),
    ApplyFeed: answer(async (request) => {
      const key = await applyManifest(request, deps)
      return getFeed({ key, afterSymbol: '' }, view(), deps)
    }),
    RemoveFeed: answer(async (request) => ({ removed: await removeOwnFeed(request, deps.writer) })),
    SetFeedsOwner: answer(async ({ owner }) => ({ changed: await handOverFeeds(owner, deps.writer) })),
    IssueFeedToken: answer((request) => issueFeedToken(request, view(), deps)),
    PurgeFeed: answer(async ({ key }) => ({ series: await purgeFeed(key, view(), deps) })),
    BeginStore: answer(() => beginStore(deps)),
    RemoveSymbol: answer((request) => removeSymbol(request, view(), deps)),
    GetHealth: answer(() => health(deps)),
    AcceptTables: answer((request) => acceptTables(request, deps)),
    AcceptTerminal: answer((request) => acceptTerminal(request, deps.writer)),
    RefillTable: answer(async (request) => {
      await refillTable(request, deps)
      return {}
    }),
    Backfill: answer(async (request) => ({ ranges: await backfill(request, view(), deps) })),
  }
}

async function beginStore({ identity, storeBegan }: RegistryServiceDeps) {
  if (identity === undefined || !(await identity.begin()))
    throw failedPrecondition('The store is not refused: there is nothing to accept, and nothing changed.')
  await storeBegan?.()
  return { storeIdentity: identity.word ?? '' }
}

function keyChanges({ writer, registry, clock }: RegistryServiceDeps) {
  const store = async (decide: (view: RegistryView) => KeyRecord | undefined, id: string): Promise<Key> => {
    await writer.change((view) => {
      const body = decide(view)
      return { rows: body ? [{ kind: 'key', id: body.id, body }] : [], result: undefined }
    })
    return messageOf(id, registry.view(), clock)
  }

  const refuseTooMany = (id = ''): void => {
    const view = registry.view()
    if (view.keys.get(id) === undefined && view.keys.all().length >= keysMax)
      throw failedPrecondition(`The maximum of ${keysMax} keys is reached.`)
  }

  return {
    create: async (request: CreateKeyRequest__Output) => {
      refuseTooMany()
      const issued = newIssue(clock)
      const key = await store((view) => createKey(request, view, issued), issued.id)
      return { key, secret: issued.secret }
    },
    update: (request: UpdateKeyRequest__Output) =>
      store((view) => updateKey(request, view, keyToChange(request, view)), request.id),
    rotate: async (request: RotateKeyRequest__Output) => {
      const issued = newIssue(clock, request.id)
      const rotate = (view: RegistryView) => rotateKey(keyToChange(request, view), request.overlapMs, issued)
      const key = await store(rotate, request.id)
      return { key, secret: issued.secret }
    },
    put: (request: PutKeyRequest__Output) => {
      refuseTooMany(request.id)
      return store((view) => {
        const key = putKey(request, view, clock.utcMs())
        if (sameRecord(view.keys.get(key.id), key)) return undefined
        refuseMoved(key.id, request.basedOn, view)
        return key
      }, request.id)
    },
    suspend: async (request: SuspendKeyRequest__Output) => ({
      suspended: await writer.change((view) => {
        const body = suspendKey(request, view, clock.utcMs())
        const isNew = body !== undefined && !view.keys.get(body.id)?.suspended
        return { rows: isNew ? [{ kind: 'key', id: body.id, body }] : [], result: body !== undefined }
      }),
    }),
    // Revoking is final, so its base version does not matter; a revoked key stays unchanged.
    revoke: ({ id }: RevokeKeyRequest__Output) =>
      store((view) => {
        const key = keyOf(id, view)
        return key.revoked ? undefined : { ...key, revoked: true }
      }, id),
  }
}

function keyOf(id: string, view: RegistryView): KeyRecord {
  const key = view.keys.get(id)
  if (key) return key
  const ids = view.keys.all().map((each) => each.id)
  throw notFound(`There is no key with the id ${show(id)}${didYouMean(id, ids)}.`)
}

/** The key to change; refused if its version is newer than the version that the change is based on. */
function keyToChange(
  { id, basedOn }: { readonly id: string; readonly basedOn: number },
  view: RegistryView,
): KeyRecord {
  const key = keyOf(id, view)
  if (basedOn !== 0) refuseMoved(id, basedOn, view)
  return key
}

function refuseMoved(id: string, basedOn: number | undefined, view: RegistryView): void {
  const version = view.versionOf(id)
  if (basedOn !== undefined && basedOn < version)
    throw changedMeanwhile(
      `${id} was changed by another request: version ${version} is newer than ${basedOn}.`,
    )
}

const messageOf = (id: string, view: RegistryView, clock: RegistryServiceDeps['clock']): Key =>
  keyMessage(keyOf(id, view), view.versionOf(id), clock.utcMs())

/** Answers a call. An error becomes a status with a sentence; the place of a defect is logged, and its cause is not sent. */
function unary<Request, Response>(
  act: (request: Request) => Response | Promise<Response>,
  log: Log,
): handleUnaryCall<Request, Response> {
  const answer = async (...[call, callback]: Parameters<handleUnaryCall<Request, Response>>) => {
    const outcome = await outcomeOf(() => act(call.request), call.getPath(), log)
    if (outcome instanceof RegistryRefusal) callback({ code: outcome.code, details: outcome.message })
    else callback(null, outcome)
  }
  return (call, callback) =>
    void answer(call, callback).catch((cause: unknown) =>
      log.error(faultPlace(cause), 'answering a Registry call failed'),
    )
}

async function outcomeOf<Response>(
  act: () => Response | Promise<Response>,
  method: string,
  log: Log,
): Promise<Response | RegistryRefusal> {
  try {
    return await act()
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) log.error({ ...faultPlace(error), method }, 'Registry call failed through a defect')
    return refusal ?? defect
  }
}
