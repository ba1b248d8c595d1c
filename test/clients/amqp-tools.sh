# librabbitmq's commands: each makes a connection of its own, here to the first node that answers. They know no confirms: amqp-publish ends when
# the broker has answered the close of its channel, so what counts as confirmed is what was there to get.
queue=$1 count=$2
IFS=, read -ra urls <<<"$AMQP_URLS"

at_some_node() {
  local command=$1 url status
  shift
  while :; do
    for url in "${urls[@]}"; do
      "$command" --url "$url" "$@"
      status=$?
      # 2: amqp-get found nothing.
      [[ $status == 0 || $status == 2 ]] && return "$status"
    done
    sleep 0.2
  done
}

at_some_node amqp-declare-queue --queue "$queue" --durable >/dev/null
for ((number = 1; number <= count; number++)); do
  for ((attempt = 1; ; attempt++)); do
    if ((attempt > 1)); then echo "again $number"; fi
    at_some_node amqp-publish --routing-key "$queue" --persistent --body "$number"
    body=$(at_some_node amqp-get --queue "$queue") && break
  done
  echo "got $body"
  echo "confirmed $body"
done
