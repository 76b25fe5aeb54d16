#!/usr/bin/env bash
# Leaves the image localstack/localstack:4.14.0 on the local engine: pulled, or where no image can be pulled, assembled from packages.
#
# 4.14.0 is the last release that starts without an account token. The assembled image runs LocalStack's own unmodified
# code on a Debian root. It has no Lambda executor; Ingot's tests ask LocalStack for DynamoDB, Streams, SQS and S3 only.
set -euo pipefail
version=4.14.0 dynamodb_local=2.6.1
digest=sha256:3ebc37595918b8accb852f8048fef2aff047d465167edd655528065b07bc364a # of the image in the registry
image=localstack/localstack:$version
here=$(cd "$(dirname "$0")" && pwd)

"$here/docker-engine.sh"
docker image inspect "$image" >/dev/null 2>&1 && exit 0
"$here/pull-image.sh" "$image" "$digest" && exit 0

packages=()
command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
command -v mvn >/dev/null || packages+=(maven)
command -v javac >/dev/null || packages+=(default-jdk-headless)
[ ${#packages[@]} -eq 0 ] || "$here/debian-install.sh" "${packages[@]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/logs" "$work/overlay"
overlay=$work/overlay # what is laid over the Debian root

debian_root() { # Debian 13 for its Python 3.13, which this release needs, and its Java 21
  mmdebstrap --variant=minbase --include=python3,openjdk-21-jre-headless,ca-certificates \
    --aptopt='Acquire::Retries "3"' --dpkgopt=path-exclude=/usr/share/{doc,locale}/* trixie "$work/root"
}

localstack() { # pins/localstack.txt has its dependencies as of its release day, 2026-03-05: newer ones break it
  local uv
  uv=$("$here/uv.sh")
  "$uv" pip install -q --target "$overlay/opt/localstack" --python-version 3.13 --require-hashes -r "$here/pins/localstack.txt"
}

dynamodb() { # DynamoDB Local, laid out as LocalStack's own installer leaves it, so that it downloads nothing at start
  local home=$overlay/usr/lib/localstack/dynamodb-local/2 java=$overlay/usr/lib/localstack/java
  mkdir -p "$home" "$java" "$overlay/var/lib/localstack"
  cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ingot</groupId><artifactId>dynamodb-local</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.amazonaws</groupId><artifactId>DynamoDBLocal</artifactId><version>$dynamodb_local</version></dependency>
  </dependencies>
</project>
POM
  mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$home/DynamoDBLocal_lib"
  if ! diff <(cd "$home/DynamoDBLocal_lib" && sha256sum -- *) "$here/pins/dynamodb-local.txt" >&2; then
    echo "localstack-image: what Maven fetched is not what pins/dynamodb-local.txt has; nothing of it was run" >&2
    return 1
  fi

  # LocalStack starts DynamoDBLocal.jar with a loader jar as agent. The real jars go on the class path through the manifest;
  # the agent has nothing to do.
  echo 'public class Agent { public static void premain(String args) {} }' >"$work/Agent.java"
  javac --release 11 -d "$work" "$work/Agent.java"
  echo 'Premain-Class: Agent' >"$work/agent.mf"
  jar cfm "$home/ddb-local-loader-0.1.jar" "$work/agent.mf" -C "$work" Agent.class
  {
    echo 'Main-Class: com.amazonaws.services.dynamodbv2.local.main.ServerRunner'
    # A manifest line holds 72 bytes; a longer one continues after a blank.
    (cd "$home" && printf ' %s' DynamoDBLocal_lib/*.jar) | sed 's/^/Class-Path:/' | fold -b -w 70 | sed '2,$s/^/ /'
    echo
  } >"$work/main.mf"
  jar cfm "$home/DynamoDBLocal.jar" "$work/main.mf" -C "$work" Agent.class
  ln -s "/usr/lib/jvm/java-21-openjdk-$(dpkg --print-architecture)" "$java/21"
  touch "$overlay/usr/lib/localstack/.community-version"
}

# The three parts wait for the network more than for each other.
declare -A part
for name in debian_root localstack dynamodb; do
  "$name" >"$work/logs/$name" 2>&1 &
  part[$name]=$!
done
failed=
for name in "${!part[@]}"; do
  wait "${part[$name]}" || { failed=1; echo "localstack-image: $name failed:" >&2; tail -n 15 "$work/logs/$name" >&2; }
done
if [ -n "$failed" ]; then
  echo "localstack-image: neither the image registry nor the package indexes gave what $image needs; check the network and try again" >&2
  exit 1
fi

cp -a --no-preserve=ownership "$overlay/." "$work/root/"
tar -C "$work/root" --exclude='./dev/*' -c . | docker import \
  -c 'ENV PYTHONPATH=/opt/localstack PYTHONUNBUFFERED=1 PROVIDER_OVERRIDE_DYNAMODB=v2 SKIP_SSL_CERT_DOWNLOAD=1 DISABLE_EVENTS=1 GATEWAY_LISTEN=0.0.0.0:4566' \
  -c 'EXPOSE 4566' -c 'ENTRYPOINT ["python3","-m","localstack.runtime.main"]' - "$image" >/dev/null
