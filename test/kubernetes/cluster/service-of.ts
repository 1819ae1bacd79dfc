interface ServicePort {
  readonly name: string
  readonly port: number
  /** Port of the process; default: the same port. */
  readonly processPort?: number
  readonly protocol?: string
}

/** A Service with an EndpointSlice for a process at this address. */
export function serviceOf(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  address: string,
  ports: readonly ServicePort[],
  clusterIP?: string,
): readonly object[] {
  const rest = ({ name: portName, protocol = 'TCP' }: ServicePort) => ({ name: portName, protocol })
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: {
        ports: ports.map((each) => ({ ...rest(each), port: each.port })),
        ...(clusterIP !== undefined && { clusterIP }),
      },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-process`, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: ports.map((each) => ({ ...rest(each), port: each.processPort ?? each.port })),
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
  ]
}
