interface ServicePort {
  readonly name: string
  readonly port: number
  readonly protocol?: string
}

/** A Service, and the EndpointSlice that sends its connections to a process at this address, on the same ports. */
export function serviceOf(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  address: string,
  ports: readonly ServicePort[],
  clusterIP?: string,
): readonly object[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { ports, ...(clusterIP !== undefined && { clusterIP }) },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-process`, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
  ]
}
