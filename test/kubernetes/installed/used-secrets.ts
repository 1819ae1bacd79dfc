import type { Kubectl } from '../cluster/kubectl.ts'

interface Item {
  readonly key: string
}
interface Pods {
  readonly items: readonly {
    readonly spec: {
      readonly containers: readonly {
        readonly env?: readonly { valueFrom?: { secretKeyRef?: Item & { readonly name: string } } }[]
      }[]
      readonly volumes?: readonly {
        secret?: { readonly secretName: string; readonly items?: readonly Item[] }
      }[]
    }
  }[]
}

/** The Secrets that pods of the namespace read as environment or files, as `secret/key`. */
export async function usedSecrets(kubectl: Kubectl): Promise<ReadonlySet<string>> {
  const { items } = JSON.parse(await kubectl('get', 'pods', '-o=json')) as Pods
  const used = new Set<string>()
  for (const { spec } of items) {
    for (const { env = [] } of spec.containers)
      for (const { valueFrom } of env)
        if (valueFrom?.secretKeyRef) used.add(`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`)
    for (const { secret } of spec.volumes ?? [])
      if (secret)
        for (const { key } of secret.items ?? (await allKeys(kubectl, secret.secretName)))
          used.add(`${secret.secretName}/${key}`)
  }
  return used
}

async function allKeys(kubectl: Kubectl, secret: string): Promise<readonly Item[]> {
  const { data = {} } = JSON.parse(await kubectl('get', 'secret', secret, '-o=json')) as { data?: object }
  return Object.keys(data).map((key) => ({ key }))
}
