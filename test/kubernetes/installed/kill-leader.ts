import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from './under-load.ts'

const takeoverMs = 120_000

/** Kills the leading operator. Resolves once another one leads. */
export async function killLeader({ kubectl }: Pick<UnderLoad, 'kubectl'>): Promise<void> {
  const leader = (): Promise<string> =>
    kubectl('get', 'lease', 'fxd-operator', '-o=jsonpath={.spec.holderIdentity}')
  /** Resolves once the Lease has another holder; after a clean stop it has none at first. */
  const another = (old: string): Promise<void> =>
    within(takeoverMs, 'another operator to lead', async () => !['', old].includes(await leader()))
  await another('')
  const old = await leader()
  await kubectl('delete', 'pod', old, '--grace-period=0', '--force')
  await another(old)
}
