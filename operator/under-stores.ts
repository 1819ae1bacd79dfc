import { unavailable } from './controller.ts'
import { type About, type Condition, conditionOf, type Outcome } from './kube/condition.ts'
import type { StoreOutcomes } from './store-health.ts'

const types = ['StoreAvailable', 'BusAvailable'] as const

/**
 * Ready, and the conditions of store and bus. While one of these is not True, an object that is ready otherwise is not,
 * for the same reason. Until ingest was asked (`undefined`), the object keeps the conditions that it has.
 */
export function underStores(
  ready: Outcome,
  outcomes: StoreOutcomes | undefined,
  about: About,
): readonly Condition[] {
  const stores = types.flatMap((type) => {
    if (outcomes === undefined) return about.had?.find((each) => each.type === type) ?? []
    const outcome = outcomes[type]
    return outcome ? conditionOf(type, outcome, about) : []
  })
  const fault = stores.find(({ status }) => status !== 'True')
  const isHidden = ready.status === 'True' || ready.reason === unavailable.reason
  return [conditionOf('Ready', fault && isHidden ? fault : ready, about), ...stores]
}
