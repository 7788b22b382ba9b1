/**
 * Writes the installation manifests: config/{crd,rbac,manager,network-policy,admission-policy,default,prometheus,
 * argocd,flux,grafana} for kustomize and GitOps, and charts/tintype for Helm, from the tables in manifests/.
 */
import { fileURLToPath } from 'node:url';
import { listGenerated, writeGenerated } from '../write-generated.ts';
import { writtenFiles, writtenFolders } from './manifests/files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

writeGenerated(writtenFiles(root), writtenFolders.flatMap(listGenerated));
