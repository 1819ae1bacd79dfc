import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { CertificateFixture, type Pair } from '../../support/fixtures/certificate-fixture.ts'
import type { ClusterNetwork } from './network.ts'

const authority = 'kubernetes'
/** Address of the API server's Service: the first of the range of Services. */
const serviceAddress = '10.96.0.1'
const nodesMax = 3

/** Certificates, keys and kubeconfig files of one cluster, in a temporary folder. */
export class Credentials {
  readonly #certificates = new CertificateFixture()
  readonly #network: ClusterNetwork
  /** Paths of PEM files. */
  readonly ca: string
  readonly caKey: string
  readonly apiServer: Pair
  /** Client certificate with which the API server calls kubelets. */
  readonly kubeletClient: Pair
  readonly kubelet: Pair
  readonly frontProxy: Pair
  /** Signs the tokens of service accounts. */
  readonly accountsKey: string

  constructor(network: ClusterNetwork) {
    this.#network = network
    this.ca = this.#certificates.authority(authority)
    this.caKey = this.#certificates.path(`${authority}-ca.key`)
    const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
    const nodes = Array.from({ length: nodesMax }, (_, i) => network.nodeAddress(i + 1))
    const addresses = ['127.0.0.1', network.address, serviceAddress, ...nodes]
    this.apiServer = this.#issue('kube-apiserver', {
      names: [...addresses.map((each) => `IP:${each}`), ...names.map((each) => `DNS:${each}`)],
    })
    this.kubeletClient = this.#issue('apiserver-kubelet', { organization: 'system:masters' })
    this.frontProxy = this.#issue('front-proxy')
    this.kubelet = this.#issue('kubelet', { names: nodes.map((each) => `IP:${each}`) })
    this.accountsKey = this.#certificates.path('accounts.key')
    execFileSync('openssl', ['genrsa', '-out', this.accountsKey, '2048'], { stdio: 'pipe' })
  }

  /** Path of a new kubeconfig for this user, with this address of the API server. */
  kubeconfig(user: string, organization?: string, address: string = this.#network.address): string {
    const { cert, key } = this.#issue(user, { ...(organization !== undefined && { organization }) })
    const path = this.#certificates.path(`${user}.json`)
    const encoded = (file: string): string => readFileSync(file).toString('base64')
    const name = this.#network.name
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name,
          cluster: {
            server: `https://${address}:6443`,
            'certificate-authority-data': encoded(this.ca),
          },
        },
      ],
      users: [
        { name: user, user: { 'client-certificate-data': encoded(cert), 'client-key-data': encoded(key) } },
      ],
      contexts: [{ name, context: { cluster: name, user } }],
      'current-context': name,
    }
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
    return path
  }

  /** A certificate for servers of these DNS names and addresses. */
  forNames(name: string, ...names: readonly string[]): Pair {
    return this.#issue(name, { names: names.map(kindOfName) })
  }

  /** Makes another authority. Returns the path of its certificate. */
  authority(name: string): string {
    return this.#certificates.authority(name)
  }

  /** The same as `forNames`, by another authority. */
  forNamesBy(by: string, name: string, ...names: readonly string[]): Pair {
    return this.#certificates.certificate(name, { by, names: names.map(kindOfName) })
  }

  remove(): void {
    this.#certificates.remove()
  }

  #issue(name: string, wanted: { names?: readonly string[]; organization?: string } = {}): Pair {
    return this.#certificates.certificate(name, { by: authority, ...wanted })
  }
}

const kindOfName = (name: string): string => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`
