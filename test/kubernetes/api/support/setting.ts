import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiKeySpec, FeedSpec, StreamPoolSpec } from '../../../../operator/kube/kinds.ts'
import type { KubeObject, Resource } from '../../../../operator/kube/object.ts'
import {
  type ApiKeyObject,
  type FeedObject,
  type PoolObject,
  resources,
  type Secret,
} from '../../../../operator/kube/resources.ts'
import { rights } from '../../../../operator/rights.ts'
import { authenticate } from '../../../../services/access/authenticate.ts'
import type { KeyRecord } from '../../../../services/core/keys/api-key.ts'
import type { StoreIdentity } from '../../../../services/ports/store-identity.ts'
import type { Stores } from '../../../../services/ports/stores.ts'
import { until } from '../../../acceptance/client/until.ts'
import { type IngestFixture, openIngestFixture, testToken } from '../../../support/fixtures/ingest-fixture.ts'
import { Admin } from './admin.ts'
import { type ApiServer, operatorUser } from './api-server.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { type OperatorProcess, operatorProcess } from './operator-process.ts'
import { openRegistryGateway, type RegistryGateway } from './registry-gateway.ts'

export const shardToken = 'the-token-of-the-shards'
const kindsVersion = 'marketdata.fxd.dev/v1alpha1'
let settings = 0

/** A namespace, an ingest with separate stores, and operators whose calls of the API server are recorded. */
export interface Setting {
  readonly namespace: string
  readonly admin: Admin
  readonly ingest: IngestFixture
  readonly gateway: Gateway
  /** The proxy between the operators and ingest. */
  readonly registry: RegistryGateway
  /** Makes an operator, by default for the ingest of this setting. */
  operator(name: string, at?: Administered): Promise<OperatorProcess>
  path(of: Resource, name?: string): string
  get<T extends KubeObject>(of: Resource, name: string): Promise<T | undefined>
  list<T extends KubeObject>(of: Resource): Promise<readonly T[]>
  remove(of: Resource, name: string): Promise<void>
  applyFeed(name: string, spec?: Partial<FeedSpec>): Promise<FeedObject>
  applyKey(name: string, spec?: Partial<ApiKeySpec>): Promise<ApiKeyObject>
  applyPool(name: string, spec: Partial<StreamPoolSpec>): Promise<PoolObject>
  /** Resolves once Ready has this reason for the current generation of the object. */
  reason<T extends KubeObject>(of: Resource, name: string, wanted: string): Promise<T>
  /** The secret in clear text in the Secret that delivers it. */
  secret(name: string, field?: string): Promise<string>
  /** The id of the key for which this secret is valid now, as REST decides. */
  opens(secret: string): string | undefined
  /** The feeds that REST grants to this secret now; `undefined` when it is not valid. */
  grants(secret: string): readonly string[] | undefined
  close(): Promise<void>
}

/** An ingest and its administration token. */
export interface Administered {
  /** host:port */
  readonly ingest: string
  readonly adminToken: string
}

interface Ready {
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

/** `identity`: what ingest says of its store; the embedded one has none. */
export async function openSetting(server: ApiServer, identity?: StoreIdentity): Promise<Setting> {
  const namespace = `test-${process.pid}-${++settings}`
  const folder = mkdtempSync(join(tmpdir(), 'fxd-operator-'))
  const admin = new Admin(server.url, server.ca, server.adminToken)
  const gateway = await openGateway(server)
  const around = (stores: Stores): Stores => ({ ...stores, ...(identity && { identity }) })
  const ingest = await openIngestFixture([], { around })
  const registry = await openRegistryGateway(ingest)
  await makeNamespace(admin, namespace)
  const operators: OperatorProcess[] = []

  const path = ({ group, version, plural }: Resource, name?: string): string => {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    return `${root}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`
  }
  const apply = <T extends KubeObject>(of: Resource, kind: string, name: string, spec: object): Promise<T> =>
    admin.apply<T>(path(of), { apiVersion: kindsVersion, kind, metadata: { name }, spec } as unknown as T)
  const get = <T extends KubeObject>(of: Resource, name: string): Promise<T | undefined> =>
    admin.get<T>(path(of, name))

  const keyOf = (secret: string): KeyRecord | undefined => {
    try {
      const caller = { credential: secret, address: '192.0.2.1' }
      return authenticate(caller, ingest.registry.view(), ingest.clock.utcMs())
    } catch {
      return undefined
    }
  }
  return {
    namespace,
    admin,
    ingest,
    gateway,
    registry,
    path,
    get,
    async operator(name, at = { ingest: registry.address, adminToken: testToken }) {
      const made = await operatorProcess({
        folder,
        name,
        url: gateway.url,
        ca: server.ca,
        token: server.operatorToken,
        namespace,
        ...at,
        shardToken,
      })
      operators.push(made)
      return made
    },
    list: async <T extends KubeObject>(of: Resource) =>
      (await admin.ask<{ items: T[] }>('GET', path(of))).items,
    remove: async (of, name) => void (await admin.ask('DELETE', path(of, name))),
    applyFeed: (name, spec) => apply(resources.feeds, 'Feed', name, { ...feedSpec, ...spec }),
    applyKey: (name, spec) => apply(resources.apikeys, 'ApiKey', name, { ...keySpec, ...spec }),
    applyPool: (name, spec) => apply(resources.streampools, 'StreamPool', name, spec),
    reason: (of, name, wanted) =>
      until(
        `${of.plural} ${name} to be ${wanted}`,
        async () => {
          const object = await get<KubeObject & Ready>(of, name)
          const { observedGeneration, conditions } = object?.status ?? {}
          const ready = conditions?.find(({ type }) => type === 'Ready')
          if (ready?.reason === wanted && observedGeneration === object?.metadata.generation)
            return object as never
          throw new Error(`${ready?.reason}: ${ready?.message}`)
        },
        40_000,
      ),
    secret: (name, field = 'key') =>
      until(`the Secret ${name}`, async () => {
        const value = (await get<Secret>(resources.secrets, name))?.data?.[field]
        return value === undefined ? undefined : Buffer.from(value, 'base64').toString().trim()
      }),
    opens: (secret) => keyOf(secret)?.id,
    grants: (secret) => keyOf(secret)?.feeds,
    async close() {
      await Promise.all(operators.map((each) => each.kill()))
      await gateway.close()
      registry.close()
      await admin.ask('DELETE', `/api/v1/namespaces/${namespace}`)
      admin.close()
      await ingest.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const feedSpec: FeedSpec = {
  broker: 'BROKERA',
  account: 'ZERO',
  clock: { mode: 'UTC' },
  quoteBasis: 'Bid',
  resolutions: ['1', '60'],
  source: { type: 'Push' },
}

const keySpec: ApiKeySpec = { plan: 'basic', feeds: ['BROKERA:ZERO'] }

/** Makes a namespace in which the operator has exactly the rights of operator/rights.ts. */
export async function makeNamespace(admin: Admin, namespace: string): Promise<void> {
  await admin.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const roots = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const rules = rights.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }))
  await admin.ask('POST', `${roots}/roles`, { metadata: { name: 'operator' }, rules })
  await admin.ask('POST', `${roots}/rolebindings`, {
    metadata: { name: 'operator' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'operator' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: operatorUser }],
  })
}
