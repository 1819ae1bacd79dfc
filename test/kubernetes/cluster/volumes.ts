import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const volumes = 12

/**
 * PersistentVolumes for claims without a class. Each is a folder of the machine that every node can reach, so a volume
 * follows its pod to another node.
 */
export const persistentVolumes = (folder: string): readonly object[] =>
  Array.from({ length: volumes }, (_, i) => {
    const path = join(folder, 'volumes', String(i))
    mkdirSync(path, { recursive: true })
    // Kubernetes does not apply fsGroup to a folder of the machine.
    chmodSync(path, 0o777)
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `volume-${i}` },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path },
      },
    }
  })
