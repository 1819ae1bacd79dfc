import { until } from '../../acceptance/client/until.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'

const readyTimeoutMs = 120_000

/** Resolves with the secret of an ApiKey once its Secret exists. */
export function deliveredKey(
  { kubectl }: KubernetesCluster,
  namespace: string,
  name: string,
): Promise<string> {
  return until(
    `the Secret of the ApiKey ${name}`,
    async () => {
      const encoded = await kubectl('get', 'secret', '-n', namespace, name, '-o=jsonpath={.data.key}')
      return encoded === '' ? undefined : Buffer.from(encoded, 'base64').toString()
    },
    readyTimeoutMs,
  )
}
