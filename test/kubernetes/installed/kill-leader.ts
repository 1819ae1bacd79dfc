import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from './under-load.ts'

const takeoverMs = 120_000

/** Kills the leading operator. Resolves once another one leads. */
export async function killLeader({ kubectl }: Pick<UnderLoad, 'kubectl'>): Promise<void> {
  const leader = (): Promise<string> =>
    kubectl('get', 'lease', 'fxd-operator', '-o=jsonpath={.spec.holderIdentity}')
  /** Resolves with the next holder of the Lease; after a clean stop it has none at first. */
  const another = async (old: string): Promise<string> => {
    let next = ''
    await within(takeoverMs, 'another operator to lead', async () => {
      next = await leader()
      return !['', old].includes(next)
    })
    return next
  }
  const old = await another('')
  // A rollout may have removed it meanwhile.
  await kubectl('delete', 'pod', old, '--grace-period=0', '--force', '--ignore-not-found')
  await another(old)
}
