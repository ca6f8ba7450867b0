
// ---- the tree, cut into any number of clusters, with the same labels as FusionTree.cut
const tree = { ...data.tree, leaf: unpack(data.tree.leaf), children: unpack(data.tree.children), leaving: unpack(data.tree.leaving), outlier: unpack(data.tree.outlier) };
const branches = data.branches;
const nBranches = (branches.nodes.length + 1) / 2;

// For each node that the cut keeps, the node whose cluster it is in.
function holders(nClusters) {
  const nMerges = Math.max(0, tree.leaves - nClusters);
  const holder = new Uint32Array(tree.leaves + nMerges);
  for (let node = 0; node < holder.length; node++) holder[node] = node;
  for (let merge = nMerges - 1; merge >= 0; merge--) {
    const into = holder[tree.leaves + merge];
    holder[tree.children[2 * merge]] = into;
    holder[tree.children[2 * merge + 1]] = into;
  }
  return holder;
}

function cut(nClusters) {
  const holder = holders(nClusters);
  const extra = tree.leaving === null ? 0 : nClusters - tree.leaves; // samples that become clusters of their own
  const nNodes = Math.max(2 * tree.leaves, tree.leaves + extra) + 1;
  const OUTSIDE = nNodes - 1; // outliers
  const size = new Uint32Array(nNodes), first = new Int32Array(nNodes), nodes = new Uint32Array(n);
  const { leaf, leaving, outlier } = tree;
  const order = [];
  for (let i = 0; i < n; i++) {
    let node = holder[leaf[i]];
    if (extra > 0 && leaving[i] >= 0 && leaving[i] < extra) node = tree.leaves + leaving[i];
    if (outlier !== null && outlier[i]) node = OUTSIDE;
    nodes[i] = node;
    if (size[node]++ === 0) { first[node] = i; if (node !== OUTSIDE) order.push(node); }
  }
  // By decreasing size, then by smallest sample index, as in Python.
  order.sort((a, b) => size[b] - size[a] || first[a] - first[b]);
  const rank = new Int32Array(nNodes).fill(-1);
  order.forEach((node, label) => { rank[node] = label; });
  const labels = new Int32Array(n);
  for (let i = 0; i < n; i++) labels[i] = rank[nodes[i]];
  const groups = [...order, OUTSIDE].filter((node) => size[node]).map((node) => ({ label: rank[node], size: size[node], first: first[node] }));
  return { labels, nodes: order, holder, groups };
}

const described = new Map(data.groups.map((group) => [`${group.first} ${group.size}`, group]));
const description = (group) => described.get(`${group.first} ${group.size}`);
const nameOf = (label) => (label < 0 ? "outliers" : `cluster ${label}`);

function branchOfSample(i) {
  if (branches.holder === undefined) {
    branches.holder = holders(nBranches);
    branches.ofNode = new Map(branches.nodes.slice(0, nBranches).map((node, branch) => [node, branch]));
  }
  return branches.ofNode.get(branches.holder[tree.leaf[i]]);
}

function cutHeight(nClusters) {
  const heights = data.heights; // of the last merges, the last one first
  const above = nClusters >= 2 ? heights[Math.min(nClusters - 2, heights.length - 1)] : heights.length ? heights[0] * 1.08 : 1;
  const below = nClusters - 1 < heights.length ? heights[nClusters - 1] : 0;
  return (above + below) / 2;
}
