interface Right {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

/** All rights of the operator. Tests compare the chart's Role with them and run the operator with no others. */
export const rights: readonly Right[] = [
  { group: 'marketdata.fxd.dev', resource: 'feeds', verbs: ['list', 'watch'] },
  { group: 'marketdata.fxd.dev', resource: 'feeds/status', verbs: ['patch'] },
  { group: 'marketdata.fxd.dev', resource: 'apikeys', verbs: ['get', 'list', 'watch'] },
  { group: 'marketdata.fxd.dev', resource: 'apikeys/status', verbs: ['patch'] },
  { group: 'marketdata.fxd.dev', resource: 'streampools', verbs: ['list', 'watch'] },
  { group: 'marketdata.fxd.dev', resource: 'streampools/status', verbs: ['patch'] },
  { group: 'marketdata.fxd.dev', resource: 'streampools/scale', verbs: ['patch'] },
  // A server-side apply requires patch, and create for a missing object.
  { group: '', resource: 'secrets', verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  { group: '', resource: 'configmaps', verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: '', resource: 'services', verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: '', resource: 'persistentvolumeclaims', verbs: ['get'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch', 'patch'] },
  { group: 'apps', resource: 'statefulsets', verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: 'apps', resource: 'deployments', verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
  { group: 'events.k8s.io', resource: 'events', verbs: ['create'] },
]
