import type { KubeApi } from './kube/api.ts'
import type { KubeObject } from './kube/object.ts'
import { apiVersionOf, group, managedByOperator, resources } from './kube/resources.ts'

/** The ConfigMap that ingest mounts. A namespace has one service. */
const name = 'fxd-store-identity'
/** An uninstallation finds it by this label. */
const storeLabel = `${group}/store`

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> }

interface Place {
  readonly api: Pick<KubeApi, 'apply'>
  readonly caches: { readonly configmaps: { get(of: string): KubeObject | undefined } }
}

/** The ConfigMap outlives QuestDB and Redis, so ingest knows that there was a store. Empty: ingest does not say. */
export async function keepStoreIdentity({ api, caches }: Place, identity: string): Promise<void> {
  if (identity === '') return
  const kept: ConfigMap | undefined = caches.configmaps.get(name)
  if (kept?.data?.['identity'] === identity) return
  await api.apply<ConfigMap>(resources.configmaps, {
    apiVersion: apiVersionOf(resources.configmaps),
    kind: 'ConfigMap',
    metadata: { name, labels: { ...managedByOperator, [storeLabel]: 'identity' } },
    data: { identity },
  })
}
